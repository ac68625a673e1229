/// The layouts, case by case: whole and broken records.
mod layouts;
/// The machines that read an input, and how their answers are compared.
mod machines;
/// What the layouts' rules say, written as plainly as possible.
mod model;
/// Random bytes, made of what matters.
mod random;
/// Values, case by case: what is JSON and what isn't, and what strings mean.
mod values;
