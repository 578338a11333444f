// Precompiled for all that is made of informers and controllers.
#pragma once

#include "coroutines.hpp"
#include "kube/runtime/controller.hpp"
#include "kube/runtime/event_recorder.hpp"
#include "kube/runtime/informer_set.hpp"
