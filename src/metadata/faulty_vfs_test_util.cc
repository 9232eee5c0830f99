#include "metadata/faulty_vfs_test_util.h"

namespace thalweg::metadata {

namespace {

// SQLite allocates szOsFile bytes for a file: this, and behind it the file of the layer below.
struct FaultyFile {
  sqlite3_file base;
  const char* path;  // SQLite keeps it until the file is closed
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

const char* path_of(sqlite3_file* file) { return reinterpret_cast<FaultyFile*>(file)->path; }
sqlite3_file* real(sqlite3_file* file) { return reinterpret_cast<FaultyFile*>(file)->real(); }
FaultyVfs& vfs() { return FaultyVfs::instance(); }

int close_file(sqlite3_file* f) { return real(f)->pMethods->xClose(real(f)); }
int read(sqlite3_file* f, void* to, int n, sqlite3_int64 at) { return real(f)->pMethods->xRead(real(f), to, n, at); }
int write(sqlite3_file* f, const void* from, int n, sqlite3_int64 at) {
  const int verdict = vfs().verdict(FaultyVfs::Operation::write, path_of(f));
  return verdict != SQLITE_OK ? verdict : real(f)->pMethods->xWrite(real(f), from, n, at);
}
int truncate(sqlite3_file* f, sqlite3_int64 size) {
  const int verdict = vfs().verdict(FaultyVfs::Operation::truncate, path_of(f));
  return verdict != SQLITE_OK ? verdict : real(f)->pMethods->xTruncate(real(f), size);
}
int sync(sqlite3_file* f, int /*flags*/) {
  const int verdict = vfs().verdict(FaultyVfs::Operation::sync, path_of(f));
  if (verdict != SQLITE_OK) return verdict;
  // The machine does not go down within a test, so nothing waits for its disk.
  if (vfs().synced && path_of(f) != nullptr) vfs().synced(path_of(f));
  return SQLITE_OK;
}
int file_size(sqlite3_file* f, sqlite3_int64* size) { return real(f)->pMethods->xFileSize(real(f), size); }
int lock(sqlite3_file* f, int level) { return real(f)->pMethods->xLock(real(f), level); }
int unlock(sqlite3_file* f, int level) { return real(f)->pMethods->xUnlock(real(f), level); }
int check_lock(sqlite3_file* f, int* held) { return real(f)->pMethods->xCheckReservedLock(real(f), held); }
int control(sqlite3_file* f, int op, void* arg) { return real(f)->pMethods->xFileControl(real(f), op, arg); }
int sector_size(sqlite3_file* f) { return real(f)->pMethods->xSectorSize(real(f)); }
int characteristics(sqlite3_file* f) { return real(f)->pMethods->xDeviceCharacteristics(real(f)); }
int shm_map(sqlite3_file* f, int page, int size, int extend, void volatile** at) {
  return real(f)->pMethods->xShmMap(real(f), page, size, extend, at);
}
int shm_lock(sqlite3_file* f, int offset, int n, int flags) {
  return real(f)->pMethods->xShmLock(real(f), offset, n, flags);
}
void shm_barrier(sqlite3_file* f) { real(f)->pMethods->xShmBarrier(real(f)); }
int shm_unmap(sqlite3_file* f, int remove) { return real(f)->pMethods->xShmUnmap(real(f), remove); }

sqlite3_vfs* below() {
  static sqlite3_vfs* const machine = sqlite3_vfs_find(nullptr);
  return machine;
}

int open_file(sqlite3_vfs* /*self*/, const char* name, sqlite3_file* file, int flags, int* out) {
  static const sqlite3_io_methods methods = {
      2,         close_file, read,    write,       truncate,        sync,    file_size, lock,
      unlock,    check_lock, control, sector_size, characteristics, shm_map, shm_lock,  shm_barrier,
      shm_unmap, nullptr,    nullptr};
  reinterpret_cast<FaultyFile*>(file)->path = name;
  const int code = below()->xOpen(below(), name, real(file), flags, out);
  // Without methods SQLite takes the file for one that was never opened.
  file->pMethods = real(file)->pMethods == nullptr ? nullptr : &methods;
  return code;
}

int delete_file(sqlite3_vfs* /*self*/, const char* name, int /*sync_directory*/) {
  return below()->xDelete(below(), name, 0);
}

}  // namespace

FaultyVfs& FaultyVfs::instance() {
  static FaultyVfs* const self = [] {
    static sqlite3_vfs registered = *below();
    registered.zName = "faulty";
    registered.szOsFile = static_cast<int>(sizeof(FaultyFile)) + below()->szOsFile;
    registered.pNext = nullptr;
    registered.xOpen = open_file;
    registered.xDelete = delete_file;
    sqlite3_vfs_register(&registered, 0);
    return new FaultyVfs;
  }();
  return *self;
}

int FaultyVfs::verdict(Operation operation, const char* path) {
  if (before && path != nullptr) before(operation, path);
  if (armed_ && operation_ == static_cast<int>(operation)) {
    armed_ = false;
    return code_;
  }
  if (countdown_ == kNever) return SQLITE_OK;
  const std::int64_t left = countdown_--;
  if (left > 0 || (left < 0 && !all_after_)) return SQLITE_OK;
  switch (operation) {
    case Operation::write:
      return SQLITE_FULL;
    case Operation::sync:
      return SQLITE_IOERR_FSYNC;
    case Operation::truncate:
      return SQLITE_IOERR_TRUNCATE;
  }
  return SQLITE_IOERR;
}

}  // namespace thalweg::metadata
