/* Multiplies two matrices through the C header of an installed Tessera. */
#include <stdio.h>

#include "tessera/tessera.h"

int main(void) {
  const double a[6] = {1, 2, 3, 4, 5, 6};    /* 2 x 3 */
  const double b[6] = {7, 8, 9, 10, 11, 12}; /* 3 x 2 */
  double c[4];
  const tessera_status status = tessera_dgemm(TESSERA_ROW_MAJOR, TESSERA_OP_N, TESSERA_OP_N, 2, 2,
                                              3, 1.0, a, 3, b, 2, 0.0, c, 2, NULL);
  if (status != TESSERA_OK) {
    fprintf(stderr, "%s\n", tessera_last_error());
    return 1;
  }
  printf("Tessera %s: %g %g / %g %g\n", tessera_version(), c[0], c[1], c[2], c[3]);
  return c[0] == 58 && c[1] == 64 && c[2] == 139 && c[3] == 154 ? 0 : 1;
}
