// Precompiled for rooms and tests that look at objects and do nothing else.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "kube/k8s/object.hpp"
