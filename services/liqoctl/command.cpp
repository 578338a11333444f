#include "command.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

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
  std::string all;
  for (const char* value : values) all += (all.empty() ? "" : "|") + std::string(value);
  const std::vector<std::string> known(values.begin(), values.end());
  option_->check([known, all](const std::string& given) {
    return std::ranges::find(known, given) != known.end() ? std::string() : "'" + given + "' is none of " + all;
  });
  return type_name(all);
}

Option Option::check(Look look) const {
  option_->check([look = std::move(look)](const std::string& given) {
    const auto good = look(given);
    return good ? std::string() : good.error().text();
  });
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

void Command::at_end(std::function<kube::Result<void>()> call) const {
  app_->callback([app = app_, call = std::move(call)] {
    if (!app->get_subcommands().empty()) return;
    if (const auto done = call(); !done) throw CLI::ValidationError(done.error().text());
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
    if (!option->get_group().empty())
      for (const std::string& name : option->get_lnames()) out.push_back("--" + name);
  return out;
}

bool Command::takes_value(const std::string& flag) const {
  const CLI::Option* option = flag.starts_with('-') ? app_->get_option_no_throw(flag) : nullptr;
  return option && option->get_expected_min() > 0;
}

std::vector<std::string> Command::values_of(const std::string& flag) const {
  std::vector<std::string> out;
  if (!takes_value(flag)) return out;
  const std::string type = app_->get_option_no_throw(flag)->get_type_name();
  if (!type.contains('|')) return out;
  for (std::size_t start = 0; start <= type.size();) {
    const std::size_t end = std::min(type.find('|', start), type.size());
    // Capitals stand for something else.
    if (const std::string word = type.substr(start, end - start);
        std::ranges::any_of(word, [](char c) { return c >= 'a' && c <= 'z'; }))
      out.push_back(word);
    start = end + 1;
  }
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
