#include "cli/command.hpp"
#include "kube/base/text.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace cli {
namespace {

/// The last of "-o,--output".
std::string last_name(const std::string& names) { return names.substr(names.rfind(',') + 1); }

/// Makes `read` the reader of a flag's value. A failure of it is reported as a mistake in the flag.
template <typename Reader>
CLI::callback_t told_as(std::string_view names, Reader read) {
  return [name = last_name(std::string(names)), read = std::move(read)](const CLI::results_t& values) {
    if (const auto done = read(values); !done) throw CLI::ValidationError(name, done.error().text());
    return true;
  };
}

bool is_truth(const std::string& text) {
  try {
    CLI::detail::to_flag_value(text);
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

/// The mistake in a word that is none of `words`; "" if it is one of them.
std::string check_word(const std::string& given, const std::vector<std::string>& words) {
  if (std::ranges::find(words, given) != words.end()) return {};
  return "'" + given + "' is none of " + kube::join(words, "|");
}

/// Lets a flag take only these words. `description` is what the help shows behind the type.
CLI::Validator word_of(std::vector<std::string> words, std::string description) {
  return CLI::Validator([words = std::move(words)](const std::string& given) { return check_word(given, words); },
                        std::move(description));
}

std::vector<CLI::App*> all_below(CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

/// The mistake in a flag that has too many or too few values.
std::string in_words(const CLI::ArgumentMismatch& mistake) {
  constexpr std::string_view too_many = ": At Most 1 required but received ";
  const std::string text = mistake.what();
  const std::size_t at = text.find(too_many);
  if (at == std::string::npos) return text;
  const std::string times = text.substr(at + too_many.size());
  return text.substr(0, at) + " is given " + (times == "2" ? "twice" : times + " times");
}

}  // namespace

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
  option_->check(word_of({values.begin(), values.end()}, ""));
  return type_name(kube::join(values, "|"));
}

Option Option::member_of(std::vector<std::string> values) const {
  std::string shown = "{" + kube::join(values, ",") + "}";
  option_->check(word_of(std::move(values), std::move(shown)));
  return *this;
}

Option Option::preset(std::string_view text) const {
  option_->default_str(std::string(text));
  return *this;
}

Option Option::existing_file() const {
  option_->check(CLI::ExistingFile);
  return *this;
}

Option Option::existing_directory() const {
  option_->check(CLI::ExistingDirectory);
  return *this;
}

Option Option::needs(Option other) const {
  option_->needs(other.option_);
  return *this;
}

Option Option::allow_empty() const {
  option_->expected(0, 1);
  return *this;
}

Option Option::check(Check is_valid) const {
  option_->check([is_valid = std::move(is_valid)](const std::string& given) {
    const auto good = is_valid(given);
    return good ? std::string() : good.error().text();
  });
  return *this;
}

Option Option::delimiter(char separator) const {
  option_->delimiter(separator);
  return *this;
}

bool Option::given() const { return option_->count() > 0; }

Option Command::flag(std::string_view names, bool& into, std::string_view what) const {
  return Option(*app_->add_flag(std::string(names), into, std::string(what)));
}

Option Command::flag(std::string_view names, std::optional<bool>& into, std::string_view what) const {
  const std::function<void(std::int64_t)> take = [&into](std::int64_t times) { into = times > 0; };
  CLI::Option& option = *app_->add_flag_function(std::string(names), take, std::string(what));
  // The library throws another exception if it cannot count.
  option.check([](const std::string& given) {
    return is_truth(given) ? std::string() : "'" + given + "' is neither true nor false";
  });
  return Option(option);
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
  const auto call = told_as(names, [read = std::move(read)](const CLI::results_t& values) {
    return read(values.empty() ? std::string() : values.front());
  });
  return Option(*app_->add_option(std::string(names), call, std::string(what))->type_name("TEXT"));
}

Option Command::list(std::string_view names, std::vector<std::string>& into, std::string_view what) const {
  return Option(
      *app_->add_option(std::string(names), into, std::string(what))->allow_extra_args(false)->type_name("TEXT"));
}

Option Command::list(std::string_view names, ListReader read, std::string_view what) const {
  const auto call = told_as(names, std::move(read));
  return Option(
      *app_->add_option(std::string(names), call, std::string(what))->type_name("TEXT")->expected(1)->take_all());
}

Option Command::number(std::string_view names, NumberTaker take, Bounds bounds, std::string_view what) const {
  const auto call = [take = std::move(take)](const CLI::results_t& values) {
    int number = 0;
    if (!CLI::detail::lexical_cast(values.front(), number)) return false;
    take(number);
    return true;
  };
  return Option(*app_->add_option(std::string(names), call, std::string(what))
                     ->type_name("INT")
                     ->check(CLI::Range(bounds.least, bounds.most)));
}

Option Command::number(std::string_view names, int& into, Bounds bounds, std::string_view what) const {
  return number(names, [&into](int read) { into = read; }, bounds, what).preset(std::to_string(into));
}

Option Command::number(std::string_view names, std::uint16_t& into, Bounds bounds, std::string_view what) const {
  return number(
             names, [&into](int read) { into = static_cast<std::uint16_t>(read); }, bounds, what)
      .type_name("UINT")
      .preset(std::to_string(into));
}

Option Command::choice(std::string_view names, const Words& known, NumberTaker take, std::string_view what) const {
  std::vector<std::string> words;
  for (const auto& [word, number] : known) words.push_back(word);
  const auto call = [known, take = std::move(take)](const CLI::results_t& values) {
    const auto found = std::ranges::find(known, values.front(), &Words::value_type::first);
    if (found == known.end()) return false;
    take(found->second);
    return true;
  };
  const std::string shown = "ENUM:{" + kube::join(words, ",") + "}";
  return Option(*app_->add_option(std::string(names), call, std::string(what))
                     ->type_name(shown)
                     ->check(word_of(std::move(words), "")));
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
  // A word in capitals is a placeholder.
  for (const std::string_view word : kube::split(type, '|'))
    if (std::ranges::any_of(word, [](char c) { return c >= 'a' && c <= 'z'; })) out.emplace_back(word);
  return out;
}

Command Command::innermost() const {
  CLI::App* app = app_;
  for (auto named = app->get_subcommands(); !named.empty(); named = app->get_subcommands()) app = named.back();
  return Command(*app);
}

std::vector<std::string> Command::remaining() const { return app_->remaining(); }

Program::Program(std::string_view name, std::string_view what, std::string_view version, std::string_view version_help)
    : root_(std::make_unique<CLI::App>(std::string(what), std::string(name))) {
  root_->set_version_flag("--version", std::string(version), std::string(version_help));
}

Program::~Program() = default;

void Program::options_file(std::string_view name, std::string_view what) const {
  root_->set_config(std::string(name), "", std::string(what));
}

std::string Program::help() const { return root_->help(); }

Program::Read Program::read(int argc, char** argv) const {
  try {
    root_->parse(argc, argv);
  } catch (const CLI::Success& asked) {
    root_->exit(asked);
    return {.line = Line::answered};
  } catch (const CLI::ArgumentMismatch& mistake) {
    return {.line = Line::wrong, .mistake = in_words(mistake)};
  } catch (const CLI::ParseError& mistake) {
    return {.line = Line::wrong, .mistake = mistake.what()};
  }
  return {};
}

}  // namespace cli
