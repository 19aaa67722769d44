#include <kiln.h>

#if defined(KILN_GAS) || \
    defined(KILN_OIL)
static int light_burner(int which) {
  int found = look_up(which);
  count(found);
  return found;
}
#elif defined(KILN_WOOD)
static int stack_wood(int which) {
  int found = wood_for(which);
  count(found);
  return found;
}

static int light_wood(int which) {
  int found = match_for(which);
  count(found);
  return found;
}
#else /* by wire */
static int switch_on(int which) {
  int found = wire_for(which);
  count(found);
  return found;
}
#endif

int main(void) {
  return kiln_run(4);
}
