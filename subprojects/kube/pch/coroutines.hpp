// Precompiled for rooms that wait: coroutines, and time.
#pragma once

#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "kube/async/event.hpp"
#include "kube/async/task_group.hpp"
#include "kube/async/timeout.hpp"
#include "objects.hpp"
