// liqoctl volume: the programs in the pods of `liqoctl move volume`. Users do not type these commands.
#include <unistd.h>

#include <cstdio>

#include "command_line/command_line.hpp"
#include "commands/commands.hpp"
#include "session/session.hpp"
#include "volumes/files.hpp"

namespace liqoctl {
namespace {

struct VolumeFlags {
  std::string directory;
  bool without_owners = false, without_modes = false;
};

asio::awaitable<Result<void>> hold(Session& session) {
  // The program ends by a signal, or when the pod's time is over.
  while (true) co_await session.clock().sleep(std::chrono::hours(1));
}

asio::awaitable<Result<void>> send(Session&, const VolumeFlags& flags) {
  std::string notes;
  auto sent = send_files(flags.directory, STDOUT_FILENO, notes);
  std::fputs(notes.c_str(), stderr);
  co_return sent;
}

asio::awaitable<Result<void>> receive(Session& session, const VolumeFlags& flags) {
  KUBE_CO_TRY(kept, receive_files(flags.directory, STDIN_FILENO));
  session.output().print(std::string(kept.owners ? "" : "--without-owners\n") +
                         (kept.modes ? "" : "--without-modes\n") + std::string(volume_end));
  co_return Result<void>();
}

asio::awaitable<Result<void>> list(Session&, const VolumeFlags& flags) {
  co_return list_files(flags.directory, STDOUT_FILENO,
                       {.owners = !flags.without_owners, .modes = !flags.without_modes});
}

asio::awaitable<Result<void>> state(Session& session, const VolumeFlags& flags) {
  KUBE_CO_TRY(state, state_of_files(flags.directory));
  session.output().print(state + std::string(volume_end));
  co_return Result<void>();
}

}  // namespace

void add_volume(CommandLine& line) {
  const cli::Command group = line.root().add("volume", "");
  group.require_commands(1, 1);
  line.set_command(group.add("hold", ""), [](Session& session) { return hold(session); });
  auto flags = std::make_shared<VolumeFlags>();
  const auto add = [&](std::string_view name, asio::awaitable<Result<void>> (*act)(Session&, const VolumeFlags&)) {
    const cli::Command app = group.add(name, "");
    app.option("directory", flags->directory, "Where the volume is").required();
    line.set_command(app, [flags, act](Session& session) { return act(session, *flags); });
    return app;
  };
  add("send", send);
  add("receive", receive);
  add("state", state);
  const cli::Command listing = add("list", list);
  listing.flag("--without-owners", flags->without_owners, "Leave out whose the files are");
  listing.flag("--without-modes", flags->without_modes, "Leave out the permissions");
}

}  // namespace liqoctl
