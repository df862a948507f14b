// Chooses the platform of OpenCL and makes devices of it; see docs/opencl/driver.md.
#include <algorithm>
#include <cctype>

#include "config.h"
#include "device.h"
#include "error.h"
#include "process.h"
#include "stream.h"

namespace oclrt {
namespace {

Platform& started = *new Platform;

template <class Get>
std::string text_of(Get get) {
  size_t size = 0;
  if (get(0, nullptr, &size) != CL_SUCCESS || size == 0) return "";
  std::string text(size, '\0');
  if (get(size, text.data(), nullptr) != CL_SUCCESS) return "";
  text.resize(size - 1);  // without the zero
  return text;
}

std::string text_of(cl_platform_id id, cl_platform_info what) {
  return text_of([&](size_t size, void* to, size_t* needed) {
    return clGetPlatformInfo(id, what, size, to, needed);
  });
}

std::string text_of(cl_device_id id, cl_device_info what) {
  return text_of([&](size_t size, void* to, size_t* needed) {
    return clGetDeviceInfo(id, what, size, to, needed);
  });
}

template <class T>
T number_of(cl_device_id id, cl_device_info what) {
  T value{};
  static_cast<void>(clGetDeviceInfo(id, what, sizeof value, &value, nullptr));
  return value;
}

bool contains(const std::string& text, const std::string& part) {
  const auto same = [](unsigned char a, unsigned char b) {
    return std::tolower(a) == std::tolower(b);
  };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) !=
         text.end();
}

// The devices of a platform whose addresses a kernel can use as they are.
std::vector<cl_device_id> devices_of(cl_platform_id id) {
  cl_uint count = 0;
  if (clGetDeviceIDs(id, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS) {
    return {};
  }
  std::vector<cl_device_id> found(count);
  if (clGetDeviceIDs(id, CL_DEVICE_TYPE_ALL, count, found.data(), nullptr) !=
      CL_SUCCESS) {
    return {};
  }
  std::erase_if(found, [](cl_device_id device) {
    const auto svm =
        number_of<cl_device_svm_capabilities>(device, CL_DEVICE_SVM_CAPABILITIES);
    return (svm & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER) == 0;
  });
  return found;
}

// LITERALINCLUDE START: PLATFORM
// The first platform whose name has the words of OCLRT_PLATFORM, and that has a device.
orError_t choose_platform(cl_platform_id* chosen, std::vector<cl_device_id>* devices) {
  cl_uint count = 0;
  cl_int status = clGetPlatformIDs(0, nullptr, &count);
  std::vector<cl_platform_id> all(count);
  if (status == CL_SUCCESS) status = clGetPlatformIDs(count, all.data(), nullptr);
  if (status != CL_SUCCESS) return fail_cl("clGetPlatformIDs", status);
  std::string names;
  for (cl_platform_id id : all) {
    const std::string name = text_of(id, CL_PLATFORM_NAME);
    names += (names.empty() ? "'" : ", '") + name + "'";
    if (!contains(name, config().platform)) continue;
    *devices = devices_of(id);
    *chosen = id;
    if (!devices->empty()) return orSuccess;
  }
  return fail(
      orErrorInitializationError,
      "no OpenCL platform with '%s' in its name has a device with shared virtual "
      "memory; the platforms are: %s. Set OCLRT_PLATFORM to part of a name",
      config().platform.c_str(), names.c_str());
}
// LITERALINCLUDE END: PLATFORM

// Splits a device into equal parts, so that one CPU is several devices.
orError_t split(cl_device_id whole, int parts, std::vector<cl_device_id>* devices) {
  const auto units = number_of<cl_uint>(whole, CL_DEVICE_MAX_COMPUTE_UNITS);
  const auto most = number_of<cl_uint>(whole, CL_DEVICE_PARTITION_MAX_SUB_DEVICES);
  const auto wanted = static_cast<cl_uint>(parts);
  if (wanted > units || wanted > most) {
    return fail(
        orErrorInitializationError,
        "the device '%s' has %u compute units and at most %u sub-devices, but %d "
        "devices are required. Set %s to a lower number, or OCLRT_SUB_DEVICES to 0",
        text_of(whole, CL_DEVICE_NAME).c_str(), units, most, parts,
        OCLRT_VARIABLE("DEVICE_COUNT"));
  }
  std::vector<cl_device_partition_property> by = {CL_DEVICE_PARTITION_BY_COUNTS};
  by.insert(by.end(), wanted, static_cast<intptr_t>(units / wanted));
  by.insert(by.end(), {CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0});
  devices->resize(wanted);
  const cl_int status =
      clCreateSubDevices(whole, by.data(), wanted, devices->data(), nullptr);
  return status == CL_SUCCESS ? orSuccess : fail_cl("clCreateSubDevices", status);
}

std::unique_ptr<Device> describe(cl_device_id id, cl_platform_id from, int parts) {
  auto made = std::make_unique<Device>();
  made->id = id;
  made->name = text_of(id, CL_DEVICE_NAME);
  made->version =
      text_of(from, CL_PLATFORM_VERSION) + "; " + text_of(id, CL_DRIVER_VERSION);
  made->units = static_cast<int>(number_of<cl_uint>(id, CL_DEVICE_MAX_COMPUTE_UNITS));
  const auto all = number_of<cl_ulong>(id, CL_DEVICE_GLOBAL_MEM_SIZE);
  // A CPU shares its memory with the rest of the host: no more than an equal part of a
  // half, which is also what the driver says before it has started.
  const bool is_cpu =
      (number_of<cl_device_type>(id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
  made->memory = config().device_memory != 0 ? config().device_memory
                 : is_cpu                    ? config().host_share
                                             : all / static_cast<size_t>(parts);
  made->largest = number_of<cl_ulong>(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  return made;
}

}  // namespace

orError_t start_platform() {
  cl_platform_id from = nullptr;
  std::vector<cl_device_id> ids;
  if (orError_t error = choose_platform(&from, &ids)) return error;
  const int count = config().device_count;
  const int parts = config().sub_devices ? count : 1;
  if (parts > 1) {
    if (orError_t error = split(ids.front(), parts, &ids)) return error;
  } else if (ids.size() < static_cast<size_t>(count)) {
    return fail(orErrorInitializationError,
                "the platform '%s' has %zu devices, but %s is %d. Set a lower number",
                text_of(from, CL_PLATFORM_NAME).c_str(), ids.size(),
                OCLRT_VARIABLE("DEVICE_COUNT"), count);
  }
  ids.resize(static_cast<size_t>(count));
  // One context: an address and an event serve all devices.
  cl_int status = CL_SUCCESS;
  started.context = clCreateContext(nullptr, static_cast<cl_uint>(count), ids.data(),
                                    nullptr, nullptr, &status);
  if (status != CL_SUCCESS) return fail_cl("clCreateContext", status);
  started.devices.clear();
  bool fine = true;
  for (cl_device_id id : ids) {
    started.devices.push_back(describe(id, from, parts));
    const auto svm =
        number_of<cl_device_svm_capabilities>(id, CL_DEVICE_SVM_CAPABILITIES);
    fine = fine && (svm & CL_DEVICE_SVM_FINE_GRAIN_BUFFER) != 0;
  }
  started.svm_flags = static_cast<cl_svm_mem_flags>(CL_MEM_READ_WRITE) |
                      (fine ? CL_MEM_SVM_FINE_GRAIN_BUFFER : 0);
  for (int i = 0; i < count; ++i) {
    Device& device = device_at(i);
    if (orError_t error = make_stream(i, &device.default_stream)) return error;
  }
  return orSuccess;
}

const Platform& platform() { return started; }

Device& device_at(int index) { return *started.devices[static_cast<size_t>(index)]; }

}  // namespace oclrt

orError_t orClGetDeviceAbility(orClDeviceAbility* ability, int device) {
  using namespace oclrt;
  return call(__func__, kStart, [&] {
    if (ability == nullptr) return fail(orErrorInvalidValue, "ability is null");
    if (orError_t error = check_device(device)) return error;
    cl_device_id id = device_at(device).id;
    const std::string extensions = text_of(id, CL_DEVICE_EXTENSIONS);
    ability->fp64 =
        number_of<cl_device_fp_config>(id, CL_DEVICE_DOUBLE_FP_CONFIG) != 0 ? 1 : 0;
    ability->fp16 = contains(extensions, "cl_khr_fp16") ? 1 : 0;
    ability->localMemory = number_of<cl_ulong>(id, CL_DEVICE_LOCAL_MEM_SIZE);
    ability->maxWorkGroup = number_of<size_t>(id, CL_DEVICE_MAX_WORK_GROUP_SIZE);
    ability->subGroups = number_of<cl_uint>(id, CL_DEVICE_MAX_NUM_SUB_GROUPS) > 0;
    ability->int64Atomics = contains(extensions, "cl_khr_int64_base_atomics") ? 1 : 0;
    return orSuccess;
  });
}
