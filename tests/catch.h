// Catch2, version 2 or 3, whichever is installed. Tests use REQUIRE alone: torch defines a CHECK of its own
// that ends the program, so Catch2's is taken away here, where a use of it fails to compile.
#pragma once

#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

#undef CHECK
