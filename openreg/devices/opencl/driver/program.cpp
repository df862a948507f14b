// Compiles programs in OpenCL C, and keeps them; see docs/opencl/driver.md.
#include "program.h"

#include <map>
#include <mutex>
#include <vector>

#include "device.h"
#include "disk_cache.h"
#include "error.h"

namespace oclrt {
namespace {

// Never destroyed: kernels are launched until the process exits.
struct Registry {
  std::mutex mutex;  // one program is compiled at a time
  std::map<std::string, cl_program> programs;
};
Registry& registry = *new Registry;

// What a binary depends on. No text of these has a zero inside.
std::string key_of(const std::string& source, const std::string& options,
                   const Device& device) {
  std::string key = source;
  for (const std::string* part : {&options, &device.name, &device.version}) {
    key += '\0' + *part;
  }
  return key;
}

std::string log_of(cl_program program, cl_device_id device) {
  size_t size = 0;
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
  std::string log(size, '\0');
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log.data(),
                        nullptr);
  while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
  return log;
}

cl_program build_binary(const std::vector<unsigned char>& binary,
                        const std::string& options, cl_device_id device) {
  const unsigned char* bytes = binary.data();
  const size_t size = binary.size();
  cl_int status = CL_SUCCESS;
  const cl_program program = clCreateProgramWithBinary(platform().context, 1, &device,
                                                       &size, &bytes, nullptr, &status);
  if (status != CL_SUCCESS) return nullptr;
  status = clBuildProgram(program, 1, &device, options.c_str(), nullptr, nullptr);
  if (status == CL_SUCCESS) return program;
  clReleaseProgram(program);  // of another version of the implementation, perhaps
  return nullptr;
}

orError_t build_source(const std::string& source, const std::string& options,
                       cl_device_id device, cl_program* program) {
  const char* text = source.c_str();
  cl_int status = CL_SUCCESS;
  *program = clCreateProgramWithSource(platform().context, 1, &text, nullptr, &status);
  if (status != CL_SUCCESS) return fail_cl("clCreateProgramWithSource", status);
  status = clBuildProgram(*program, 1, &device, options.c_str(), nullptr, nullptr);
  if (status == CL_SUCCESS) return orSuccess;
  const std::string log = log_of(*program, device);
  clReleaseProgram(*program);
  return fail(orErrorInvalidValue,
              "OpenCL C does not compile with the options '%s': %s (%d)\n%s",
              options.c_str(), name_of(status), status, log.c_str());
}

std::vector<unsigned char> binary_of(cl_program program) {
  // The program has an entry for each device of the context, and one of them is built.
  cl_uint devices = 0;
  clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof devices, &devices, nullptr);
  std::vector<size_t> sizes(devices, 0);
  if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, devices * sizeof(size_t),
                       sizes.data(), nullptr) != CL_SUCCESS) {
    return {};
  }
  std::vector<std::vector<unsigned char>> binaries;
  std::vector<unsigned char*> places;
  for (const size_t size : sizes) {
    binaries.emplace_back(size);
    places.push_back(size == 0 ? nullptr : binaries.back().data());
  }
  if (clGetProgramInfo(program, CL_PROGRAM_BINARIES, devices * sizeof(unsigned char*),
                       places.data(), nullptr) != CL_SUCCESS) {
    return {};
  }
  for (std::vector<unsigned char>& binary : binaries) {
    if (!binary.empty()) return std::move(binary);
  }
  return {};
}

}  // namespace

orError_t find_program(const std::string& source, const std::string& options, int index,
                       cl_program* program) {
  const Device& device = device_at(index);
  const std::string key = key_of(source, options, device);
  const std::string own_key = std::to_string(index) + '\0' + key;
  const std::lock_guard lock(registry.mutex);
  if (const auto found = registry.programs.find(own_key);
      found != registry.programs.end()) {
    *program = found->second;
    return orSuccess;
  }
  cl_program made = nullptr;
  if (const auto binary = load_binary(key); !binary.empty()) {
    made = build_binary(binary, options, device.id);
  }
  if (made == nullptr) {
    if (orError_t error = build_source(source, options, device.id, &made)) return error;
    store_binary(key, binary_of(made));
  }
  *program = registry.programs[own_key] = made;
  return orSuccess;
}

}  // namespace oclrt
