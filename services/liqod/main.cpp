#include "program.hpp"

int main(int argc, char** argv) { return liqod::run_program(argc, argv); }
