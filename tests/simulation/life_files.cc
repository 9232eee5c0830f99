#include "simulation/life_files.h"

#include <span>

#include "base/log.h"

namespace thalweg::simulation {

using runtime::File;
using runtime::IoError;
using runtime::IoResult;

namespace {

constexpr std::size_t kOffsetIndexEntryBytes = 8;
constexpr std::size_t kTimeIndexEntryBytes = 12;

}  // namespace

class LifeFiles::LifeFile final : public File {
 public:
  LifeFile(LifeFiles& files, std::shared_ptr<File> file) : files_(files), file_(std::move(file)) {}

  IoResult<void> write_at(std::uint64_t position, std::span<const std::span<const std::uint8_t>> pieces) override {
    TRY(files_.enter("write", path()));
    const std::size_t entry = path().ends_with(".timeindex") ? kTimeIndexEntryBytes
                              : path().ends_with(".index")   ? kOffsetIndexEntryBytes
                                                             : 0;
    if (files_.plant_ == Plant::lost_index_entry && entry > 0 && pieces.size() == 1 && pieces[0].size() >= entry &&
        files_.random_.below(4) == 0) {
      const std::span<const std::uint8_t> shorter[] = {pieces[0].first(pieces[0].size() - entry)};
      return files_.note(file_->write_at(position, shorter));
    }
    return files_.note(file_->write_at(position, pieces));
  }
  IoResult<std::size_t> read_at(std::uint64_t position, std::span<std::uint8_t> into) override {
    TRY(files_.enter("read", path()));
    return files_.note(file_->read_at(position, into));
  }
  IoResult<ssize_t> read_cached_at(std::uint64_t position, std::span<std::uint8_t> into) override {
    if (files_.dead_) return std::unexpected(IoError{EIO, "read " + path()});
    return files_.note(file_->read_cached_at(position, into));
  }
  IoResult<std::uint64_t> size() override {
    TRY(files_.enter("size of", path()));
    return files_.note(file_->size());
  }
  IoResult<void> truncate(std::uint64_t size) override {
    TRY(files_.enter("truncate", path()));
    return files_.note(file_->truncate(size));
  }
  IoResult<void> sync() override {
    TRY(files_.enter("fdatasync", path()));
    return files_.note(files_.sync(file_));
  }
  [[nodiscard]] int descriptor() const override { return -1; }
  [[nodiscard]] const std::string& path() const override { return file_->path(); }

 private:
  LifeFiles& files_;
  std::shared_ptr<File> file_;
};

void LifeFiles::die(Death how) {
  if (std::exchange(dead_, true)) return;
  late_syncs_.clear();
  power_lost_ = how == Death::power_lost;
  if (power_lost_) disk_.crash();
  if (on_death_) on_death_();
}

IoResult<void> LifeFiles::enter(std::string_view operation, const std::string& path) {
  THALWEG_LOG(trace, "files", "{} {}", operation, path);
  if (!dead_) {
    if (death_ && calls_ >= death_->first) die(death_->second);
    ++calls_;
    for (std::size_t i = 0; i < late_syncs_.size();) {
      if (late_syncs_[i].at_call > calls_) {
        ++i;
        continue;
      }
      (void)late_syncs_[i].file->sync();
      late_syncs_.erase(late_syncs_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  if (dead_) return std::unexpected(IoError{EIO, "the machine is off: " + path});
  return {};
}

IoResult<void> LifeFiles::sync(const std::shared_ptr<File>& file) {
  if (failing_sync_ && syncs_++ == *failing_sync_) disk_.fail_call(0, EIO);
  if (file->path().ends_with(".log")) {
    if (plant_ == Plant::skipped_sync && random_.below(8) == 0) return {};
    if (plant_ == Plant::early_ack) {
      late_syncs_.push_back({calls_ + 1 + random_.below(40), file});
      return {};
    }
  }
  return file->sync();
}

IoResult<std::shared_ptr<File>> LifeFiles::open(const std::string& path, runtime::OpenMode mode) {
  TRY(enter("open", path));
  ASSIGN_OR_RETURN(std::shared_ptr<File> file, note(disk_.open(path, mode)));
  return std::make_shared<LifeFile>(*this, std::move(file));
}

IoResult<std::vector<runtime::DirectoryEntry>> LifeFiles::list(const std::string& directory) {
  TRY(enter("list", directory));
  return note(disk_.list(directory));
}

IoResult<bool> LifeFiles::exists(const std::string& path) {
  TRY(enter("stat", path));
  return note(disk_.exists(path));
}

IoResult<void> LifeFiles::create_directories(const std::string& directory) {
  TRY(enter("create folder", directory));
  return note(disk_.create_directories(directory));
}

IoResult<void> LifeFiles::rename(const std::string& from, const std::string& to) {
  TRY(enter("rename", from));
  return note(disk_.rename(from, to));
}

IoResult<void> LifeFiles::remove(const std::string& path) {
  TRY(enter("remove", path));
  return note(disk_.remove(path));
}

IoResult<void> LifeFiles::remove_all(const std::string& directory) {
  TRY(enter("remove all", directory));
  return note(disk_.remove_all(directory));
}

IoResult<void> LifeFiles::sync_directory(const std::string& directory) {
  TRY(enter("fsync", directory));
  return note(disk_.sync_directory(directory));
}

IoResult<void> LifeFiles::sync_filesystem(const std::string& directory) {
  TRY(enter("syncfs", directory));
  return note(disk_.sync_filesystem(directory));
}

IoResult<runtime::DirectoryLock> LifeFiles::lock(const std::string& directory) {
  TRY(enter("lock", directory));
  return note(disk_.lock(directory));
}

IoResult<std::uint64_t> LifeFiles::free_bytes(const std::string& directory) {
  TRY(enter("statvfs", directory));
  return disk_.free_bytes(directory);
}

}  // namespace thalweg::simulation
