tessera_test(verify_test LABELS cpu verify)
tessera_test(verify_special_test LABELS cpu verify)
