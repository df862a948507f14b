// Names of operators; see docs/operators/structured.md.
#include "csrc/aten/structured/Signature.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <string>

namespace openreg {

const char* overload(const char* name, const char* overload_name) {
  const bool plain = *overload_name == '\0';
  return (new std::string(plain ? name : c10::str(name, '.', overload_name)))->c_str();
}

const char* inplace_overload(const char* name, const char* overload_name) {
  const std::string inplace = c10::str(name, '_');
  const c10::OperatorName full("aten::" + inplace, overload_name);
  const bool there = c10::Dispatcher::singleton().findSchema(full).has_value();
  return there ? overload(inplace.c_str(), overload_name) : nullptr;
}

}  // namespace openreg
