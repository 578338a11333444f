// A command line: commands, their flags, and the values that are read from them. Only command.cpp includes CLI11: it
// consists of templates, so each file that includes it takes seconds to compile and carries a copy of it.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/base/failure.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace cli {

/// A flag or an argument of a command. A handle, copied freely. Valid as long as the Program.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  /// Makes a command line without it a mistake.
  Option required() const;
  /// The name of its value in the help, e.g. "NAME".
  Option type_name(std::string_view name) const;
  /// The heading in the help under which it is listed; "" = it is hidden.
  Option group(std::string_view heading) const;
  /// Allows only these values. The help shows them as the type of the option, and completion offers them.
  Option one_of(std::initializer_list<const char*> values) const;
  /// Allows only these values. The help shows them in braces behind the type.
  Option member_of(std::vector<std::string> values) const;
  /// The value that the help shows as the default.
  Option preset(std::string_view text) const;
  Option existing_file() const;
  Option existing_directory() const;
  /// The other option must be given if this one is.
  Option needs(Option other) const;
  /// Allows the flag without a value, which is read as "". An empty list in a file of options is read as "{}".
  Option allow_empty() const;
  /// Checks each of its values. A failure is reported as a mistake in the flag.
  using Check = std::function<kube::Result<void>(const std::string&)>;
  Option check(Check is_valid) const;
  /// The character that separates several values of a list in one argument.
  Option delimiter(char separator) const;
  /// Whether it was on the command line. Valid once the command line has been read.
  bool given() const;

 private:
  CLI::Option* option_;
};

/// The least and the most that a number may be.
struct Bounds {
  int least = 0;
  int most = 0;
};

/// A command, or a group of flags of one. A handle, copied freely. Valid as long as the Program. `names` of flags are
/// "-s,--long"; without dashes it is an argument. The value is written to `into`, which must outlive the reading.
class Command {
 public:
  explicit Command(CLI::App& app) : app_(&app) {}
  auto operator<=>(const Command&) const = default;

  /// A flag that is true if it is given, and takes =false. The name "!--off" means the opposite. So does
  /// "--off{false}", and its help shows that.
  Option flag(std::string_view names, bool& into, std::string_view what) const;
  /// A flag that is true if it is given, and takes =false. `into` stays as it is if the flag is not given.
  Option flag(std::string_view names, std::optional<bool>& into, std::string_view what) const;
  /// A flag that sets `into` to `value`.
  Option flag(std::string_view names, std::optional<bool>& into, bool value, std::string_view what) const;
  Option option(std::string_view names, std::string& into, std::string_view what) const;
  /// Takes every value that follows.
  Option option(std::string_view names, std::vector<std::string>& into, std::string_view what) const;
  /// The value is read by `read`. A failure is reported as a mistake in the flag that is named last.
  using Reader = std::function<kube::Result<void>(const std::string&)>;
  Option option(std::string_view names, Reader read, std::string_view what) const;
  /// Takes one value at each occurrence, and may occur again.
  Option list(std::string_view names, std::vector<std::string>& into, std::string_view what) const;
  /// Takes one value at each occurrence, and may occur again. `read` gets all values at once.
  using ListReader = std::function<kube::Result<void>(const std::vector<std::string>&)>;
  Option list(std::string_view names, ListReader read, std::string_view what) const;
  /// Takes a whole number. The help shows its bounds and its default.
  Option number(std::string_view names, int& into, Bounds bounds, std::string_view what) const;
  Option number(std::string_view names, std::uint16_t& into, Bounds bounds, std::string_view what) const;
  using NumberTaker = std::function<void(int)>;
  Option number(std::string_view names, NumberTaker take, Bounds bounds, std::string_view what) const;
  /// Words, each with the number that it stands for.
  using Words = std::vector<std::pair<std::string, int>>;
  /// Takes one of the words, and passes its number to `take`. The help shows the words as the type.
  Option choice(std::string_view names, const Words& known, NumberTaker take, std::string_view what) const;

  /// Adds a command below this one. It is hidden if `what` is "".
  Command add(std::string_view name, std::string_view what) const;
  void alias(std::string_view name) const;
  /// Lines below the help.
  void footer(std::string_view text) const;
  /// How many commands must and may follow.
  void require_commands(std::size_t least, std::size_t most) const;
  /// Everything that follows the command becomes its remaining(), flags included.
  void take_the_rest() const;
  /// Called when the command is named, before its flags are read.
  void at_start(std::function<void()> call) const;
  /// Called when the command line was read, unless a command below this one was named. A failure is a mistake in the
  /// command line.
  void at_end(std::function<kube::Result<void>()> call) const;

  std::string name() const;
  /// The names from the program to the command, with blanks between them.
  std::string path() const;
  bool is_called(std::string_view name) const;
  bool needs_command() const;
  /// The commands below this one, hidden ones included.
  std::vector<Command> below() const;
  /// The names of the commands below this one that are not hidden.
  std::vector<std::string> names_below() const;
  /// The long flags of the command that the help shows, each with its dashes.
  std::vector<std::string> flags() const;
  /// Whether the word behind this flag ("--wait") is the flag's value.
  bool takes_value(const std::string& flag) const;
  /// The words that the flag takes as its value, as the help shows them; empty if it takes any value.
  std::vector<std::string> values_of(const std::string& flag) const;
  /// The innermost command that the command line names, which may be this one.
  Command innermost() const;
  /// The words that were left over when the command line was read.
  std::vector<std::string> remaining() const;

 private:
  CLI::App* app_;
};

/// The root command, and all commands below it. Not copied, because handles point into it.
class Program {
 public:
  Program(std::string_view name, std::string_view what, std::string_view version,
          std::string_view version_help = "Print the version of this program");
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();

  Command root() const { return Command(*root_); }
  /// A flag that names a file of options, "name = value" on each line. The command line wins.
  void options_file(std::string_view name, std::string_view what) const;
  std::string help() const;

  /// How the reading of a command line ended.
  enum class Line { understood, answered, wrong };
  struct Read {
    Line line = Line::understood;
    std::string mistake = {};  ///< the mistake
  };
  /// Reads a command line. Prints help and version on standard output.
  Read read(int argc, char** argv) const;

 private:
  std::unique_ptr<CLI::App> root_;
};

}  // namespace cli
