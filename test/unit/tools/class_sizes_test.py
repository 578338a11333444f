"""tools/class-sizes: what counts as a line and as a function of a class, and what is a breach."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]


def load():
    loader = importlib.machinery.SourceFileLoader("class_sizes", str(ROOT / "tools/class-sizes"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("class_sizes", loader))
    sys.modules["class_sizes"] = module
    loader.exec_module(module)
    return module


sizes = load()


def measured(*sources: str) -> dict[str, tuple[int, int]]:
    """Lines and functions of each class of these sources."""
    classes = sizes.measure((f"file{number}.cpp", text) for number, text in enumerate(sources))
    return {one.name: (one.lines, one.functions) for one in classes}


def functions(body: str) -> int:
    """How many functions a class has with this body."""
    return measured(f"class One {{\n{body}\n}};")["One"][1]


def test_comments_and_blank_lines_are_no_lines_of_code():
    source = """
    // A class of comments. class Other {
    class One {
      /* in it
         class Other { void f(); };
      */

      int a_;  // with code
      const char* b_ = "// no comment {";
    };
    """
    assert measured(source) == {"One": (4, 0)}


def test_functions_that_are_defined_in_sources_count_for_the_class():
    header = """
    namespace house {
    class Room {
     public:
      explicit Room(int doors);
      int doors() const { return doors_; }
      void paint();

     private:
      int doors_;
    };
    }  // namespace house
    """
    source = """
    namespace house {
    namespace {
    int lost() { return 3; }
    }  // namespace

    Room::Room(int doors) : doors_(doors) {}

    void Room::paint() {
      // Twice.
      doors_ *= lost();
    }

    void walk(Room& room) { room.paint(); }
    }  // namespace house
    """
    elsewhere = "void house::Room::paint_again() {\n}\n"
    assert measured(header, source, elsewhere) == {"house::Room": (8 + 1 + 3 + 2, 3)}


def test_a_nested_class_counts_by_itself():
    header = """
    class Outer {
      struct Inner {
        int a;
        void f();
        struct Core { void g() const; };
      };
      struct Hidden;
      Inner inner();
    };
    """
    source = """
    struct Outer::Hidden {
      int b;
      void h();
    };
    void Outer::Inner::f() { a = 1; }
    void Outer::Inner::Core::g() const {
    }
    void Outer::Hidden::h() {}
    Outer::Inner Outer::inner() { return {}; }
    """
    assert measured(header, source) == {
        "Outer": (5, 1),
        "Outer::Inner": (5, 1),
        "Outer::Inner::Core": (3, 1),
        "Outer::Hidden": (5, 1),
    }


def test_a_class_without_a_name_is_a_part_of_what_it_is_in():
    assert measured("struct One {\n  struct {\n    int a;\n    int b() const;\n  } both;\n};") == {"One": (6, 1)}


@pytest.mark.parametrize(
    "body, count",
    [
        ("void f();", 1),
        ("void f(); void f(int);", 2),
        ("One(); One(const One&) = delete; One& operator=(const One&) = delete; ~One();", 2),
        ("One(One&&) noexcept = default; auto operator<=>(const One&) const = default;", 0),
        ("virtual void f() = 0; void g() override; static int h();", 3),
        ("bool operator==(const One&) const; int operator()(int) const; explicit operator bool() const;", 3),
        ("One& operator<<(int); One& operator>>(int); bool operator<(const One&) const; int operator[](int);", 4),
        ("operator std::vector<int>() const { return {}; }", 1),
        ("template <class T, class U = std::less<>> requires(sizeof(T) < 8) T f(T t) { return t; }", 1),
        ("template <std::size_t N> void f(std::array<int, N> a);", 1),
        ("[[nodiscard]] Result<std::map<int, int>> f(int a = g(1), std::function<void()> b = {});", 1),
        ("auto f(int a) const -> decltype(a);", 1),
        ("friend bool operator==(const One&, const One&) { return true; }\nfriend class Two;", 0),
        ("std::function<void(int)> handler = [](int a) { f(a); };", 0),
        ("void (*pointer)(int); int (One::*member)(int) = &One::f; Result<void> (*other)() = nullptr;", 0),
        ("int a = f(3), b{g(4)}; std::string c{}; static constexpr int d[] = {1, 2};", 0),
        ("using Handler = std::function<void(int)>; using Base::Base; typedef void F(int);", 0),
        ("static_assert(sizeof(int) == 4);", 0),
        ("enum class Kind : int { a = 1, b = f(2) } kind = Kind::a;", 0),
        ("unsigned flag : 1; alignas(16) int b;", 0),
        ("class Elsewhere; struct tm time; struct tm f();", 1),
        ("public:\n int f() {\n  if (g()) { return 1'000; }\n  return [this](auto a) { return a(*this); }(2);\n }", 1),
        ("protected:\n int a_ = 3;\n private:", 0),
    ],
)
def test_what_is_a_function(body, count):
    assert functions(body) == count
    # What follows is read as what it is.
    assert functions(body + "\n void last();") == count + 1


def test_constructors_with_initializers_end_with_their_body():
    source = """
    class One : public Base<int>, Other {
     public:
      explicit One(int a)
          : Base<int>(a),
            Other{a},
            call_([this](int b) {
              f(b);
            }),
            list_{{1, 2}, {3}} {
        f(a);
      }
      template <class... T>
      One(T&&... t) : Mixins(std::forward<T>(t))... {}
      void f(int);
    };
    One::One(long a,
             long b)
        : One(int(a + b)) {
      f(3);
    }
    """
    assert measured(source) == {"One": (15 + 5, 3)}


def test_a_signature_of_several_lines_belongs_to_its_function():
    header = "struct One {\n  template <class T>\n  std::map<int,\n           T>\n  f(int a,\n    int b) const;\n};"
    source = "template <class T>\nstd::map<int,\n         T>\nOne::f(int a,\n       int b) const {\n\n  return {};\n}\n"
    assert measured(header, source) == {"One": (7 + 7, 1)}


def test_templates_and_their_specializations():
    source = """
    template <class T, int n = (3 > 2)>
    class Box {
      void f();
    };
    template <class T, int n>
    void Box<T, n>::f() {}
    template <>
    struct std::hash<Box<int>> {
      std::size_t operator()(const Box<int>&) const;
    };
    """
    assert measured(source) == {"Box": (6, 1), "std::hash<Box<int>>": (4, 1)}


def test_classes_of_unnamed_namespaces_belong_to_their_file():
    one = "namespace a {\nnamespace {\nclass Mover {\n  void run();\n};\nvoid Mover::run() {}\n}\n}\n"
    other = "namespace a {\nnamespace {\nclass Mover {\n  int b;\n  void run();\n};\n}\nvoid Mover::run() {\n}\n}\n"
    classes = sizes.measure([("one.cpp", one), ("other.cpp", other)])
    assert [(c.name, c.file, c.lines, c.functions) for c in classes] == [
        ("a::Mover", "one.cpp", 4, 1),
        ("a::Mover", "other.cpp", 6, 1),
    ]


def test_a_namespace_is_no_class():
    header = 'namespace a { void f(); class One { int c(); }; }\nextern "C" {\nvoid g() {}\n}\n'
    source = "void a::f() {\n}\ninline int a::One::c() { return 1; }\n"
    assert measured(header, source) == {"a::One": (2, 1)}


def test_of_a_condition_the_first_branch_is_read():
    source = '#if defined(A)\nclass One {\n#else\nclass One : Two {\n#endif\n  const char* a = R"(\n};)";\n  void f();\n};\n'
    assert measured(source)["One"][1] == 1


def rows_and_breaches(rows: dict[str, str], files: tuple[str, ...] = ()) -> list[str]:
    many = "".join(f"void f{number}();\n" for number in range(26))
    long = "int a;\n" * 349
    classes = sizes.measure([("a.hpp", f"class Many {{\n{many}}};\nclass Long {{\n{long}}};\nclass Fits {{\n{many[10:]}\n}};")])
    return sizes.breaches(classes, files, rows)


def test_a_class_that_is_larger_needs_a_row():
    assert rows_and_breaches({"Many": "one function per kind"}) == [
        "Long: 351 lines, 0 functions (a.hpp): divide it, or say in LARGER of tools/class-sizes why it is one class"
    ]


def test_a_row_whose_class_is_not_larger_goes():
    gone = "no class of this name is larger than it may be: its row in LARGER of tools/class-sizes goes"
    rows = dict.fromkeys(("Many", "Long", "Fits", "Gone"), "why")
    assert rows_and_breaches(rows) == [f"Fits: {gone}", f"Gone: {gone}"]


def test_a_header_of_parts_is_a_breach():
    rows = dict.fromkeys(("Many", "Long"), "why")
    files = ("src/a/b_parts.hpp", "src/a/parts.hpp")
    assert rows_and_breaches(rows, files) == ["src/a/b_parts.hpp: name it after what it holds"]


def test_every_row_says_why():
    assert all(reason.strip() and not reason.endswith(".") for reason in sizes.LARGER.values())


def function(lines: int) -> str:
    """A function of that many lines."""
    return "\n".join(["void Room::paint(int walls,", "                 int doors) {", *["  f();"] * (lines - 3), "}"]) + "\n"


def test_a_function_of_more_than_sixty_lines_is_a_breach():
    text = "namespace house {\n" + function(60) + "\n// Twice.\n" + function(61) + "}  // namespace house\n"
    assert sizes.long_functions([("a.cpp", text)]) == ["a.cpp:64: a function of 61 lines: divide it"]


def test_tables_classes_and_namespaces_are_no_functions():
    table = "constexpr Row rows[] = {\n" + '    {"a", 1},\n' * 80 + "};\n"
    rooms = "class Room {\n" + "  void paint();\n" * 80 + "};\n"
    text = "namespace house {\n" + table + rooms + function(20) + "}  // namespace house\n"
    assert sizes.long_functions([("a.cpp", text)]) == []


def test_a_directive_in_a_function_does_not_begin_another():
    body = function(61).replace("  f();", "#ifdef HOUSE", 1)
    assert len(sizes.long_functions([("a.cpp", body)])) == 1
