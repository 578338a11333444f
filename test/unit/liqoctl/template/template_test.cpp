// The language of the chart's templates, and its functions, compared with Helm's output for the same text.
#include <doctest/doctest.h>

#include <array>

#include "template/engine.hpp"
#include "template/numbers.hpp"

namespace {

using namespace liqoctl;
namespace json = kube::json;

constexpr const char* values = R"({
  "on": true, "off": false, "nothing": null, "empty": "", "word": "it's \"so\"", "one": 1, "big": 17179869184,
  "half": 0.5, "list": ["a", "b"], "none": [], "map": {"z": "1", "a": "2"}, "lines": "one\ntwo\n"})";

kube::Result<std::string> made(std::string_view text, std::string_view helpers = "") {
  const std::array files{chart::File{"templates/_helpers.tpl", helpers}, chart::File{"templates/object.yaml", text},
                         chart::File{"files/role.yaml", "kind: Role\n"}};
  const auto engine = chart::Engine::read(files);
  if (!engine) return std::unexpected(engine.error());
  json::object root{{"Values", chart::as_values(json::parse(values))}, {"Release", {{"Name", "liqo"}}}};
  return engine->render("templates/object.yaml", root);
}

TEST_CASE("templates make what Helm makes of them") {
  for (const auto& [text, wanted] : std::vector<std::pair<const char*, const char*>>{
           {"plain {{ .Values.word }}", "plain it's \"so\""},
           {"a {{- /* comment */ -}} b", "ab"},
           {"a\n  {{- .Values.on }}\n", "atrue\n"},
           {"a {{ .Values.on -}}\n  b", "a trueb"},
           {"{{ \"tab\\t\\\"q\\\"\" }}{{ `raw\\n` }}", "tab\t\"q\"raw\\n"},
           {"{{ .Values.nothing }}{{ .Values.unknown }}", ""},
           {"{{ if .Values.off }}a{{ else if .Values.empty }}b{{ else }}c{{ end }}", "c"},
           {"{{ if and .Values.on .Values.list }}a{{ end }}{{ if or .Values.none .Values.empty }}b{{ end }}", "a"},
           {"{{ if not .Values.none }}a{{ end }}", "a"},
           {"{{ if or .Values.on .Values.nothing.deep }}short{{ end }}", "short"},
           {"{{ with .Values.map }}{{ .a }}{{ $.Release.Name }}{{ else }}x{{ end }}", "2liqo"},
           {"{{ with .Values.none }}x{{ else }}{{ .Release.Name }}{{ end }}", "liqo"},
           {"{{ range .Values.list }}{{ . }},{{ end }}{{ range .Values.none }}x{{ else }}none{{ end }}", "a,b,none"},
           {"{{ range $i, $x := .Values.list }}{{ $i }}{{ $x }}{{ end }}", "0a1b"},
           {"{{ range $k, $v := .Values.map }}{{ $k }}={{ $v }};{{ end }}", "a=2;z=1;"},
           {"{{ $x := \"a\" }}{{ if .Values.on }}{{ $x = \"b\" }}{{ end }}{{ $x }}", "b"},
           {"{{ $x := \"a\" }}{{ if .Values.on }}{{ $x := \"b\" }}{{ end }}{{ $x }}", "a"},
           {"{{ (dict \"a\" (dict \"b\" \"c\")).a.b }}", "c"},
           {"{{ include \"own\" (list . \"x\") }}", "liqo-x"},
           {"{{ (.Files.Get \"files/role.yaml\" | fromYaml).kind }}", "Role"},
           // Functions.
           {"{{ sub (add (int64 .Values.one) 5) 2 }}", "4"},
           {"{{ append .Values.list \"c\" | join \"-\" }}", "a-b-c"},
           {"{{ concat .Values.list (list \"c\") .Values.none | toJson }}", R"(["a","b","c"])"},
           {"{{ .Values.empty | default \"d\" }}{{ .Values.word | default \"d\" | len }}", "d9"},
           {"{{ eq \"a\" \"a\" }}{{ ne \"a\" \"a\" }}{{ gt 2 1 }}", "truefalsetrue"},
           {"{{ get .Values.map \"z\" }}{{ get .Values.map \"y\" }}{{ hasKey .Values.map \"y\" }}", "1false"},
           {"{{ has \"b\" .Values.list }}{{ hasPrefix \"--\" \"--x\" }}{{ index .Values.list 1 }}", "truetrueb"},
           {"{{ int64 .Values.one }}{{ int64 .Values.big }}{{ int64 \"7\" }}", "1171798691847"},
           {"{{ list | len }}{{ dict | len }}", "00"},
           {"{{ printf \"%s=%s\" \"a\" \"b\" | quote }}{{ quote .Values.on }}", R"("a=b""true")"},
           {"{{ regexMatch \"^[a-z]+$\" \"abc\" }}{{ ternary \"x\" \"y\" .Values.off }}", "truey"},
           {"{{ toJson .Values.big }} {{ toJson .Values.half }} {{ toJson .Values.word }}",
            R"(17179869184 0.5 "it's \"so\"")"},
           {"a:{{ toYaml .Values.map | nindent 2 }}", "a:\n  a: \"2\"\n  z: \"1\""},
           {"{{ toYaml .Values.lines | nindent 2 }}", "\n  |\n  one\n  two"},
           {"{{ trim \" a \" }}{{ trimAll \"\\\"\" \"\\\"b\\\"\" }}{{ toString .Values.on }}", "abtrue"},
           {"{{ (fromYamlArray \"[a, b]\") | join \"+\" }}", "a+b"},
       }) {
    CAPTURE(text);
    const auto out = made(text, "{{ define \"own\" -}}{{ (index . 0).Release.Name }}-{{ index . 1 }}{{- end }}");
    REQUIRE_MESSAGE(out, (out ? "" : out.error().text()));
    CHECK(*out == wanted);
  }
}

TEST_CASE("what is outside of the language, or fails, is told with its place") {
  for (const auto& [text, wanted] : std::vector<std::pair<const char*, const char*>>{
           {"\n{{ .Values.word", "templates/object.yaml:2: an action has no end"},
           {"{{ if .Values.on }}", "a block has no end"},
           {"{{ end }}", "there is nothing to end here"},
           {"{{ if .Values.on }}{{ else }}{{ else }}{{ end }}", "does not end here"},
           {"{{ \"a }}", "a string has no end"},
           {"{{ /* a }}", "a comment has no end"},
           {"{{ (.Values.on }}", "a parenthesis is not closed"},
           {"{{ .Values..on }}", "is no field"},
           {"{{ 1.5 }}", "is no whole number"},
           {"{{ . ! }}", "has no meaning here"},
           {"{{ }}", "a value is missing"},
           {"{{ template \"x\" }}", "template is not known here"},
           {"{{ if .Values.on }}{{ define \"x\" }}{{ end }}{{ end }}", "define takes a name"},
           {"{{ with .Values.on }}{{ else with .Values.off }}{{ end }}", "else is followed by something"},
           {"\n\n{{ env \"HOME\" }}", "templates/object.yaml:3: env: this function is not known here"},
           {"{{ tpl \"x\" . }}", "tpl: this function is not known here"},
           {"{{ .Values.nothing.deep }}", "there is no .deep of nothing"},
           {"{{ .Values.word.deep }}", "there is no .deep of what is no map"},
           {"{{ $x }}", "$x is not known"},
           {"{{ .Values.one }}", "are printed with int64, toJson or toYaml"},
           {"{{ .Values.map }}", "are printed with int64, toJson or toYaml"},
           {"{{ eq .Values.one 1 }}", "eq: values of different kinds"},
           {"{{ add 9223372036854775807 1 }}", "add: the sum is too large"},
           {"{{ sub (sub 0 9223372036854775807) 2 }}", "sub: the difference is too large"},
           {"{{ add \"a\" 1 }}", "add: the arguments do not fit"},
           {"{{ gt .Values.one 1 }}", "gt: only whole numbers are compared"},
           {"{{ index .Values.list 2 }}", "index: there is no such element"},
           {"{{ printf \"%d\" 1 }}", "printf: only %s is known"},
           {"{{ printf \"x\" \"y\" }}", "more arguments than the format takes"},
           {"{{ join \",\" }}", "join: the arguments do not fit"},
           {"{{ nindent 100000 \"x\" }}", "nindent: no such indentation"},
           {"{{ regexMatch \"(\" \"x\" }}", "regexMatch: not a pattern"},
           {"{{ fromYaml \"[a]\" }}", "fromYaml: the text is no map"},
           {"{{ range .Values.word }}{{ end }}", "range goes over a list or a map"},
           {"{{ .Values.word \"x\" }}", "only functions take arguments"},
           {"{{ .Files.Get \"no\" }}", "the chart has no such file"},
           {"{{ fail 1 }}", "fail: this function is not known here"},
           {"{{ include \"no\" . }}", "no template no"},
           {"{{ include \"loop\" . }}", "templates/_helpers.tpl:1: templates include each other without end"},
       }) {
    CAPTURE(text);
    const auto out = made(text, "{{ define \"loop\" }}{{ include \"loop\" . }}{{ end }}");
    REQUIRE_FALSE(out);
    CHECK_MESSAGE(out.error().text().contains(wanted), out.error().text());
    CHECK(out.error().text().starts_with("templates/"));
  }
}

TEST_CASE("what a template refuses is told in its own words") {
  const auto out = made("{{ fail (printf \"%s is wrong\" .Release.Name) }}");
  REQUIRE_FALSE(out);
  CHECK(out.error().text() == "liqo is wrong");
}

TEST_CASE("templates are bounded") {
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "{{ if .Values.on }}";
  CHECK_FALSE(made(deep));
  CHECK_FALSE(made("{{ " + std::string(100, '(') + "1" + std::string(100, ')') + " }}"));
  CHECK_FALSE(made(std::string((1 << 20) + 1, 'x')));
  // Each list is ten times the one before it.
  std::string much = "{{ $l := list 1 2 3 4 5 6 7 8 9 10 }}", end;
  for (int i = 0; i < 6; ++i) much += "{{ range $l }}", end += "{{ end }}";
  const auto out = made(much + "x" + end);
  REQUIRE_FALSE(out);
  CHECK(out.error().code() == kube::Errc::too_large);
}

}  // namespace
