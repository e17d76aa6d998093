package facts

import "gdsproof/internal/profile"

// Signature is a known line of the kernel log.
type Signature = profile.Signature

// Rules is the profile that the node is judged by; it is always known.
var Rules = Define("profile", nil, func(in *In) Known[*profile.Profile] { return Have(in.Profile()) })
