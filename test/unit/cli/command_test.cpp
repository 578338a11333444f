#include "cli/command.hpp"

#include <doctest/doctest.h>

namespace {

using Line = cli::Program::Line;

/// A program with one flag, and its reading of the words after its name.
struct Fixture {
  cli::Program program{"prog", "does things", "prog 1"};
  cli::Command app = program.root();

  cli::Program::Read read(std::vector<std::string> words) const {
    words.insert(words.begin(), "prog");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    return program.read(int(argv.size()), argv.data());
  }
  std::string mistake(std::vector<std::string> words) const {
    const auto line = read(std::move(words));
    CHECK(line.line == Line::wrong);
    return line.mistake;
  }
};

TEST_CASE_FIXTURE(Fixture, "a choice is taken by its word, and by nothing else") {
  int got = -1;
  app.choice("--level", {{"low", 0}, {"high", 1}}, [&got](int number) { got = number; }, "how much");
  CHECK(read({"--level", "high"}).line == Line::understood);
  CHECK(got == 1);
  CHECK(read({"--level=low"}).line == Line::understood);
  CHECK(got == 0);
  for (const char* given : {"1", "Low"}) {
    CAPTURE(given);
    CHECK(mistake({"--level", given}) == "--level: '" + std::string(given) + "' is none of low|high");
  }
  CHECK(program.help().contains("--level ENUM:{low,high}"));
}

TEST_CASE_FIXTURE(Fixture, "a number stays within its bounds, and the help shows them and the preset") {
  std::uint16_t port = 80;
  app.number("--port", port, {.least = 1, .most = 65535}, "where");
  CHECK(program.help().contains("--port UINT:INT in [1 - 65535]=80"));
  CHECK(read({"--port", "65535"}).line == Line::understood);
  CHECK(port == 65535);
  CHECK(mistake({"--port", "65536"}) == "--port: Value 65536 not in range 1 to 65535");
  CHECK(mistake({"--port", "x"}) == "--port: Value x not in range 1 to 65535");
}

TEST_CASE_FIXTURE(Fixture, "a flag with one value that is given again is a mistake") {
  std::uint16_t port = 80;
  std::string name;
  app.number("--port", port, {.least = 1, .most = 65535}, "where");
  app.option("-n,--name", name, "which");
  CHECK(mistake({"--port", "1", "--port", "2"}) == "--port is given twice");
  CHECK(mistake({"-n", "a", "--name", "b", "-n", "c"}) == "--name is given 3 times");
}

TEST_CASE_FIXTURE(Fixture, "a flag that is neither true nor false is a mistake") {
  std::optional<bool> on;
  app.flag("--on", on, "whether");
  CHECK(mistake({"--on=banana"}) == "--on: 'banana' is neither true nor false");
  CHECK(read({}).line == Line::understood);
  CHECK(!on);
  CHECK(read({"--on=false"}).line == Line::understood);
  CHECK(on == false);
}

TEST_CASE_FIXTURE(Fixture, "a list is read at once, and a failure names the flag") {
  std::vector<std::string> got;
  const auto take = [&got](const std::vector<std::string>& values) -> kube::Result<void> {
    got = values;
    if (values.front() == "bad") return kube::fail(kube::Errc::invalid_input, "is bad");
    return {};
  };
  app.list("--key", take, "which").allow_empty();
  CHECK(read({"--key", "a", "--key", "b"}).line == Line::understood);
  CHECK(got == std::vector<std::string>{"a", "b"});
  CHECK(read({"--key="}).line == Line::understood);
  CHECK(got == std::vector<std::string>{""});
  CHECK(mistake({"--key", "bad"}) == "--key: is bad");
}

TEST_CASE_FIXTURE(Fixture, "a flag that needs another one is a mistake without it") {
  std::string one, other, form = "a";
  const cli::Option first = app.option("--one", one, "first");
  app.option("--other", other, "second").needs(first);
  app.option("--form", form, "how").member_of({"a", "b"}).preset(form);
  CHECK(mistake({"--other", "x"}) == "--other requires --one");
  CHECK(mistake({"--form", "c"}) == "--form: 'c' is none of a|b");
  CHECK(program.help().contains("--form TEXT:{a,b}=a"));
}

}  // namespace
