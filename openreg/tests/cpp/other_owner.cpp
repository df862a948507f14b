// Registers the hooks of PrivateUse1 before the backend does; see
// docs/frontend/autoload.md.
#include <ATen/detail/PrivateUse1HooksInterface.h>

namespace {
const bool registered = [] {
  at::RegisterPrivateUse1HooksInterface(new at::PrivateUse1HooksInterface);
  return true;
}();
}  // namespace
