#include "command.hpp"

#include <CLI/CLI.hpp>

namespace liqoctl {
namespace {

/// The last of "-o,--output".
std::string last_name(const std::string& names) { return names.substr(names.rfind(',') + 1); }

std::vector<CLI::App*> all_below(CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

}  // namespace

// -- Option
// --------------------------------------------------------------------------------------------------------------

Option Option::required() const {
  option_->required();
  return *this;
}

Option Option::type_name(std::string_view name) const {
  option_->type_name(std::string(name));
  return *this;
}

Option Option::group(std::string_view heading) const {
  option_->group(std::string(heading));
  return *this;
}

Option Option::one_of(std::initializer_list<const char*> values) const {
  option_->check(CLI::IsMember(std::vector<std::string>(values.begin(), values.end())));
  return *this;
}

Option Option::delimiter(char separator) const {
  option_->delimiter(separator);
  return *this;
}

bool Option::given() const { return option_->count() > 0; }

// -- Command
// -------------------------------------------------------------------------------------------------------------

Option Command::flag(std::string_view names, bool& into, std::string_view what) const {
  return Option(*app_->add_flag(std::string(names), into, std::string(what)));
}

Option Command::flag(std::string_view names, std::optional<bool>& into, bool value, std::string_view what) const {
  return Option(*app_->add_flag_callback(std::string(names), [&into, value] { into = value; }, std::string(what)));
}

Option Command::option(std::string_view names, std::string& into, std::string_view what) const {
  return Option(*app_->add_option(std::string(names), into, std::string(what)));
}

Option Command::option(std::string_view names, std::vector<std::string>& into, std::string_view what) const {
  return Option(*app_->add_option(std::string(names), into, std::string(what)));
}

Option Command::option(std::string_view names, Reader read, std::string_view what) const {
  const std::function<void(const std::string&)> call = [name = last_name(std::string(names)),
                                                        read = std::move(read)](const std::string& text) {
    if (const auto done = read(text); !done) throw CLI::ValidationError(name, done.error().text());
  };
  return Option(*app_->add_option_function(std::string(names), call, std::string(what)));
}

Option Command::list(std::string_view names, std::vector<std::string>& into, std::string_view what) const {
  return Option(
      *app_->add_option(std::string(names), into, std::string(what))->allow_extra_args(false)->type_name("TEXT"));
}

Command Command::choice(std::string_view heading, std::string_view what, std::size_t count) const {
  CLI::App& group = *app_->add_option_group(std::string(heading), std::string(what));
  group.require_option(int(count));
  return Command(group);
}

Command Command::add(std::string_view name, std::string_view what) const {
  CLI::App& app = *app_->add_subcommand(std::string(name), std::string(what));
  if (what.empty()) app.group("");
  return Command(app);
}

void Command::alias(std::string_view name) const { app_->alias(std::string(name)); }
void Command::footer(std::string_view text) const { app_->footer(std::string(text)); }
void Command::require_commands(std::size_t least, std::size_t most) const { app_->require_subcommand(least, most); }
void Command::take_the_rest() const { app_->prefix_command(); }

void Command::at_start(std::function<void()> call) const {
  app_->preparse_callback([call = std::move(call)](std::size_t) { call(); });
}

void Command::at_end(std::function<void()> call) const {
  app_->callback([app = app_, call = std::move(call)] {
    if (app->get_subcommands().empty()) call();
  });
}

std::string Command::name() const { return app_->get_name(); }

std::string Command::path() const {
  std::string out = app_->get_name();
  for (const CLI::App* app = app_->get_parent(); app; app = app->get_parent()) out = app->get_name() + " " + out;
  return out;
}

bool Command::is_called(std::string_view name) const { return app_->check_name(std::string(name)); }
bool Command::needs_command() const { return app_->get_require_subcommand_min() > 0; }

std::vector<Command> Command::below() const {
  std::vector<Command> out;
  for (CLI::App* app : all_below(*app_)) out.emplace_back(*app);
  return out;
}

std::vector<std::string> Command::names_below() const {
  std::vector<std::string> out;
  for (const CLI::App* app : all_below(*app_))
    if (!app->get_group().empty()) out.push_back(app->get_name());
  return out;
}

std::vector<std::string> Command::flags() const {
  std::vector<std::string> out;
  for (const CLI::Option* option : app_->get_options())
    for (const std::string& name : option->get_lnames()) out.push_back("--" + name);
  return out;
}

Command Command::innermost() const {
  CLI::App* app = app_;
  for (auto named = app->get_subcommands(); !named.empty(); named = app->get_subcommands()) app = named.back();
  return Command(*app);
}

std::vector<std::string> Command::remaining() const { return app_->remaining(); }

// -- Program
// -------------------------------------------------------------------------------------------------------------

Program::Program(std::string_view name, std::string_view what, std::string_view version)
    : root_(std::make_unique<CLI::App>(std::string(what), std::string(name))) {
  root_->set_version_flag("--version", std::string(version), "Print the version of this program");
}

Program::~Program() = default;

std::string Program::help() const { return root_->help(); }

Program::Read Program::read(int argc, char** argv) const {
  try {
    root_->parse(argc, argv);
  } catch (const CLI::Success& asked) {
    root_->exit(asked);
    return {.line = Line::answered};
  } catch (const CLI::ParseError& mistake) {
    return {.line = Line::wrong, .mistake = mistake.what()};
  }
  return {};
}

}  // namespace liqoctl
