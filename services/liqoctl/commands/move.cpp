// liqoctl move volume: moves the data of a claim to another cluster.
#include "volumes/move.hpp"
#include "command_line/checked_flags.hpp"
#include "command_line/command_line.hpp"
#include "commands/commands.hpp"

namespace liqoctl {
namespace {

asio::awaitable<Result<void>> move(Session& session, const VolumeMove& asked) {
  KUBE_CO_TRY(cluster, co_await session.local());
  co_return co_await move_volume(session, *cluster, asked);
}

}  // namespace

void add_move(CommandLine& line) {
  auto asked = std::make_shared<VolumeMove>();
  const cli::Command app = line.command(
      line.verb("move"), {"volume", "Move the data of a claim of class liqo to another cluster"},
      {.timeout = std::chrono::hours(1),
       .aliases = {"pvc"},
       .examples = "  liqoctl move volume data-db-0 --namespace shop --target-node milan\n"
                   "No pod may use the claim meanwhile. The data is copied and compared before the claim is given\n"
                   "the copy, and only then what it was copied from goes. Interrupted at any point, the same command\n"
                   "goes on: what was compared is not copied again."},
      [asked](Session& session) { return move(session, *asked); });
  check_names(app.option("name", asked->claim, "The PersistentVolumeClaim").required().type_name("NAME"));
  app.option("--target-node", asked->node, "A node of the cluster where it is to be: a virtual one, or one of home")
      .required()
      .type_name("NAME");
  app.option("--image", asked->image, "Image of the pods that carry the data (default that of liqod)")
      .type_name("IMAGE");
  app.flag("--keep-source", asked->keep_source, "Keep what the data was copied from");
}

}  // namespace liqoctl
