#pragma once
// The rules of all optimizers; list.inc lists them for the registry and both backends. Each rule is
// a literal type for host and device with
//   name, summary, states, norms, defaults
//   Rule(const UpdateSettings&, const UpdateScale&)  the constants of one parameter in one step
//   update(weight, gradient, state…)                 one value; `states` references of state
// State starts at 0, and a value whose gradient and weight are 0 stays 0.

#include "trainer/optimizers/adam.h"
#include "trainer/optimizers/adamw.h"
#include "trainer/optimizers/lars.h"
#include "trainer/optimizers/nesterov.h"
#include "trainer/optimizers/rmsprop.h"
#include "trainer/optimizers/sgd.h"
