#include "program.hpp"

int main(int argc, char** argv) { return liqoctl::run_program(argc, argv); }
