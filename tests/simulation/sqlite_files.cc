#include "simulation/sqlite_files.h"

#include <sqlite3.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace thalweg::simulation {

namespace {

constexpr const char* kName = "simulated";

runtime::FileSystem* files = nullptr;

// The WAL's index lies in memory that connections share; here they share a process.
using SharedMemory = std::map<std::string, std::vector<std::unique_ptr<std::vector<char>>>>;
SharedMemory& shared_memory() {
  static SharedMemory memory;
  return memory;
}

struct State {
  std::shared_ptr<runtime::File> file;
  std::string path;
  bool folder_unsynced = false;  // the file was made and its entry is not durable
};

struct SimulatedFile {
  sqlite3_file base;
  State* state;
};

State& state_of(sqlite3_file* file) { return *reinterpret_cast<SimulatedFile*>(file)->state; }

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

int write_error(const runtime::IoError& error, int otherwise) { return error.out_of_space() ? SQLITE_FULL : otherwise; }

int close_file(sqlite3_file* f) {
  delete reinterpret_cast<SimulatedFile*>(f)->state;
  return SQLITE_OK;
}

int read(sqlite3_file* f, void* to, int n, sqlite3_int64 at) {
  const std::span bytes(static_cast<std::uint8_t*>(to), static_cast<std::size_t>(n));
  const auto got = state_of(f).file->read_at(static_cast<std::uint64_t>(at), bytes);
  if (!got) return SQLITE_IOERR_READ;
  if (*got == bytes.size()) return SQLITE_OK;
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(*got), bytes.end(), std::uint8_t{0});
  return SQLITE_IOERR_SHORT_READ;
}

int write(sqlite3_file* f, const void* from, int n, sqlite3_int64 at) {
  const std::span bytes(static_cast<const std::uint8_t*>(from), static_cast<std::size_t>(n));
  const auto done = state_of(f).file->write_at(static_cast<std::uint64_t>(at), bytes);
  return done ? SQLITE_OK : write_error(done.error(), SQLITE_IOERR_WRITE);
}

int truncate(sqlite3_file* f, sqlite3_int64 size) {
  return state_of(f).file->truncate(static_cast<std::uint64_t>(size)) ? SQLITE_OK : SQLITE_IOERR_TRUNCATE;
}

int sync(sqlite3_file* f, int /*flags*/) {
  State& state = state_of(f);
  if (!state.file->sync()) return SQLITE_IOERR_FSYNC;
  if (state.folder_unsynced && !files->sync_directory(folder_of(state.path))) return SQLITE_IOERR_DIR_FSYNC;
  state.folder_unsynced = false;
  return SQLITE_OK;
}

int file_size(sqlite3_file* f, sqlite3_int64* size) {
  const auto found = state_of(f).file->size();
  if (!found) return SQLITE_IOERR_FSTAT;
  *size = static_cast<sqlite3_int64>(*found);
  return SQLITE_OK;
}

int lock(sqlite3_file* /*f*/, int /*level*/) { return SQLITE_OK; }
int check_lock(sqlite3_file* /*f*/, int* held) {
  *held = 0;
  return SQLITE_OK;
}
int control(sqlite3_file* /*f*/, int /*op*/, void* /*arg*/) { return SQLITE_NOTFOUND; }
int sector_size(sqlite3_file* /*f*/) { return 512; }
int characteristics(sqlite3_file* /*f*/) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }

int shm_map(sqlite3_file* f, int page, int size, int extend, void volatile** at) {
  auto& pages = shared_memory()[state_of(f).path];
  *at = nullptr;
  if (extend == 0 && static_cast<std::size_t>(page) >= pages.size()) return SQLITE_OK;
  while (pages.size() <= static_cast<std::size_t>(page))
    pages.push_back(std::make_unique<std::vector<char>>(static_cast<std::size_t>(size)));
  *at = pages[static_cast<std::size_t>(page)]->data();
  return SQLITE_OK;
}
int shm_lock(sqlite3_file* /*f*/, int /*offset*/, int /*n*/, int /*flags*/) { return SQLITE_OK; }
void shm_barrier(sqlite3_file* /*f*/) {}
int shm_unmap(sqlite3_file* f, int /*remove*/) {
  shared_memory().erase(state_of(f).path);
  return SQLITE_OK;
}

int open_file(sqlite3_vfs* /*self*/, const char* name, sqlite3_file* file, int flags, int* out) {
  static const sqlite3_io_methods methods = {
      2,         close_file, read,    write,       truncate,        sync,    file_size, lock,
      lock,      check_lock, control, sector_size, characteristics, shm_map, shm_lock,  shm_barrier,
      shm_unmap, nullptr,    nullptr};
  file->pMethods = nullptr;
  if (name == nullptr) return SQLITE_CANTOPEN;
  const bool may_create = (flags & SQLITE_OPEN_CREATE) != 0;
  const auto existed = files->exists(name);
  if (!existed) return SQLITE_CANTOPEN;
  auto opened = files->open(name, may_create ? runtime::OpenMode::create : runtime::OpenMode::read_write);
  if (!opened) return SQLITE_CANTOPEN;
  reinterpret_cast<SimulatedFile*>(file)->state =
      new State{.file = std::move(*opened), .path = name, .folder_unsynced = !*existed};
  file->pMethods = &methods;
  if (out != nullptr) *out = flags;
  return SQLITE_OK;
}

int delete_file(sqlite3_vfs* /*self*/, const char* name, int sync_folder) {
  const auto existed = files->exists(name);
  if (existed && !*existed) return SQLITE_IOERR_DELETE_NOENT;
  if (!existed || !files->remove(name)) return SQLITE_IOERR_DELETE;
  if (sync_folder != 0 && !files->sync_directory(folder_of(name))) return SQLITE_IOERR_DIR_FSYNC;
  return SQLITE_OK;
}

int access_file(sqlite3_vfs* /*self*/, const char* name, int /*flags*/, int* result) {
  const auto found = files->exists(name);
  if (!found) return SQLITE_IOERR_ACCESS;
  *result = *found ? 1 : 0;
  return SQLITE_OK;
}

int full_name(sqlite3_vfs* /*self*/, const char* name, int size, char* out) {
  if (std::strlen(name) >= static_cast<std::size_t>(size)) return SQLITE_CANTOPEN;
  std::strcpy(out, name);
  return SQLITE_OK;
}

int randomness(sqlite3_vfs* /*self*/, int n, char* out) {
  for (int i = 0; i < n; ++i) out[i] = static_cast<char>(i * 37 + 11);
  return n;
}
int sleep_for(sqlite3_vfs* /*self*/, int microseconds) { return microseconds; }
int time_now(sqlite3_vfs* /*self*/, double* days) {
  *days = 2460000.5;
  return SQLITE_OK;
}
int last_error(sqlite3_vfs* /*self*/, int /*n*/, char* /*out*/) { return EIO; }

}  // namespace

const char* use_sqlite_files(runtime::FileSystem& with) {
  files = &with;
  shared_memory().clear();
  static const bool registered = [] {
    static sqlite3_vfs vfs{};
    vfs.iVersion = 1;
    vfs.szOsFile = sizeof(SimulatedFile);
    vfs.mxPathname = 512;
    vfs.zName = kName;
    vfs.xOpen = open_file;
    vfs.xDelete = delete_file;
    vfs.xAccess = access_file;
    vfs.xFullPathname = full_name;
    vfs.xRandomness = randomness;
    vfs.xSleep = sleep_for;
    vfs.xCurrentTime = time_now;
    vfs.xGetLastError = last_error;
    return sqlite3_vfs_register(&vfs, 0) == SQLITE_OK;
  }();
  return registered ? kName : "";
}

}  // namespace thalweg::simulation
