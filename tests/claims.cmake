# What docs/claims.md settles by arithmetic.
tessera_test(claims_test LABELS core)
