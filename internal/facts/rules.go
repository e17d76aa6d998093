package facts

import "gdsproof/internal/profile"

// Rules is the profile that the node is judged by; it is always known.
var Rules = Define("profile", nil, func(in *In) Known[*profile.Profile] { return Have(in.Profile()) })
