module gdsproof

go 1.26.8
