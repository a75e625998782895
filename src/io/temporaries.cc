#include "io/temporaries.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "io/message.h"
#include "io/remove_tree.h"
#include "io/tensor.h"

namespace tessera::io {
namespace {

// A slot is written only by the thread that took it from kFree to kBusy. A signal handler takes
// live slots to kBusy as well, so that it never reads a name while another thread writes one, and
// leaves them kGone for their owner to free.
enum SlotState : int { kFree, kBusy, kLive, kGone };

struct Slot {
  std::atomic<int> state{kFree};
  pid_t owner = 0;  // a forked child inherits the table but not the files
  bool is_folder = false;
  int directory_fd = -1;
  char name[128] = {};
};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler uses the slots");

constexpr int kSlots = 64;
std::array<Slot, kSlots> slots;

int take_slot() {
  for (int i = 0; i < kSlots; ++i) {
    int expected = kFree;
    if (slots[static_cast<std::size_t>(i)].state.compare_exchange_strong(expected, kBusy)) return i;
  }
  return -1;
}

/// Ends the life of a slot. False when a signal handler has removed the file already.
bool free_slot(Slot& slot) {
  int expected = kLive;
  if (slot.state.compare_exchange_strong(expected, kFree)) return true;
  expected = kGone;
  slot.state.compare_exchange_strong(expected, kFree);
  return false;
}

/// The process number and a counter tell live temporaries apart; the time keeps the name from that
/// of a process with the same number elsewhere (a container on the same disk).
void write_name(Slot& slot, const std::string& stem, bool is_folder) {
  static std::atomic<unsigned> counter{0};
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  ::snprintf(slot.name, sizeof(slot.name),
             is_folder ? "%.48s-%ld-%u-%lx%lx" : ".%.48s.%ld.%u.%lx%lx.tmp", stem.c_str(),
             static_cast<long>(::getpid()), counter.fetch_add(1),
             static_cast<unsigned long>(now.tv_sec), static_cast<unsigned long>(now.tv_nsec));
}

/// Live before anything of that name exists: a signal in between finds nothing to remove, the other
/// way round it would leave something behind.
void go_live(Slot& slot, int directory_fd, const std::string& stem, bool is_folder) {
  slot.owner = ::getpid();
  slot.directory_fd = directory_fd;
  slot.is_folder = is_folder;
  write_name(slot, stem, is_folder);
  slot.state.store(kLive);
}

void remove(const Slot& slot) noexcept {
  if (slot.is_folder) {
    remove_tree(slot.directory_fd, slot.name);
  } else {
    ::unlinkat(slot.directory_fd, slot.name, 0);
  }
}

}  // namespace

Temporary::Temporary(int directory_fd, const std::string& stem, const std::string& path)
    : directory_fd_(directory_fd), slot_(take_slot()) {
  if (slot_ < 0) {
    output_failure(path, "more than " + std::to_string(kSlots) + " outputs are open at once");
  }
  Slot& slot = slots[static_cast<std::size_t>(slot_)];
  go_live(slot, directory_fd, stem, false);
  fd_ = ::openat(directory_fd, slot.name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (fd_ < 0) {
    const int error = errno;
    free_slot(slot);
    output_failure(path, "cannot create a file in its directory: " + errno_text(error));
  }
}

Temporary::~Temporary() {
  if (slot_ >= 0) {
    Slot& slot = slots[static_cast<std::size_t>(slot_)];
    if (slot.owner == ::getpid()) ::unlinkat(directory_fd_, slot.name, 0);
    free_slot(slot);
  }
  ::close(fd_);
}

int Temporary::rename_to(const std::string& target) {
  Slot& slot = slots[static_cast<std::size_t>(slot_)];
  if (::renameat(directory_fd_, slot.name, directory_fd_, target.c_str()) != 0) return errno;
  free_slot(slot);
  slot_ = -1;
  return 0;
}

TemporaryFolder::TemporaryFolder(const std::string& parent, const std::string& stem) {
  const auto refuse = [&](const std::string& path, const std::string& why) {
    throw Error(ErrorCode::kOutputFailure, "cannot make the folder " + path + ": " + why);
  };
  parent_fd_ = ::open(parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (parent_fd_ < 0) refuse(parent + "/" + stem, errno_text(errno));
  slot_ = take_slot();
  if (slot_ < 0) {
    ::close(parent_fd_);
    refuse(parent + "/" + stem, "too many temporaries at once");
  }
  Slot& slot = slots[static_cast<std::size_t>(slot_)];
  go_live(slot, parent_fd_, stem, true);
  path_ = parent + "/" + slot.name;
  if (::mkdirat(parent_fd_, slot.name, 0700) != 0) {
    const int error = errno;
    free_slot(slot);
    ::close(parent_fd_);
    refuse(path_, errno_text(error));
  }
}

TemporaryFolder::~TemporaryFolder() {
  Slot& slot = slots[static_cast<std::size_t>(slot_)];
  if (slot.owner == ::getpid()) remove(slot);
  free_slot(slot);
  ::close(parent_fd_);
}

void remove_temporaries() noexcept {
  const int saved_errno = errno;
  const pid_t self = ::getpid();
  for (Slot& slot : slots) {
    int expected = kLive;
    if (!slot.state.compare_exchange_strong(expected, kBusy)) continue;
    if (slot.owner != self) {
      slot.state.store(kLive);
      continue;
    }
    remove(slot);
    slot.state.store(kGone);
  }
  errno = saved_errno;
}

}  // namespace tessera::io
