//! What could serve the same request with the same guarantees.

use inrush::Plan;
use inrush::plan::Choice;
use inrush::profile::{Recipe, promises_as_much};
use inrush::target::{KnobKind, Strategy};

/// Connections that are tried.
const LANES: [usize; 5] = [1, 2, 4, 8, 16];

/// So many for each processor at most: a server on the same machine works too.
const LANES_EACH: usize = 4;

/// The best strategies by rank, of which other numbers of connections are tried at once.
const RANKED: usize = 3;

/// The bounds of a chunk, as of `--chunk-size`.
const CHUNK_BYTES: std::ops::RangeInclusive<usize> = (16 << 10)..=(16 << 20);

/// A way to load that is measured.
#[derive(Clone)]
pub(super) struct Candidate {
    pub(super) recipe: Recipe,
    pub(super) choice: Choice,
}

/// The candidates of one plan, each once; the first is the planner's own choice.
pub(super) struct Field<'p> {
    plan: &'p Plan,
    /// In the order in which they came.
    pub(super) all: Vec<Candidate>,
    /// Strategies that can't do it, and why.
    pub(super) unusable: Vec<(&'static str, String)>,
}

impl<'p> Field<'p> {
    pub(super) fn of(plan: &'p Plan) -> Self {
        let own = Candidate { recipe: Recipe::of(&plan.choice), choice: plan.choice.clone() };
        Self { plan, all: vec![own], unusable: Vec::new() }
    }

    fn default(&self) -> &Choice {
        &self.plan.choice
    }

    /// Adds a candidate, unless it promises less, leaves another table, or is there already; its place.
    fn add(&mut self, recipe: Recipe) -> Option<usize> {
        let choice = self.plan.by(&recipe).ok()?;
        let recipe = Recipe { lanes: choice.lanes, ..recipe };
        if let Some(known) = self.all.iter().position(|known| known.recipe == recipe) {
            return Some(known);
        }
        if !self.keeps(&choice) {
            return None;
        }
        self.all.push(Candidate { recipe, choice });
        Some(self.all.len() - 1)
    }

    fn keeps(&self, choice: &Choice) -> bool {
        let definition = |choice: &Choice| {
            let mut job = self.plan.job.clone();
            job.choice.strategy = choice.strategy;
            job.choice.knobs = choice.knobs.clone();
            self.plan.target.definition(&job)
        };
        promises_as_much(choice, self.default()) && definition(choice) == definition(self.default())
    }

    /// Every strategy, and the best of them over other numbers of connections.
    pub(super) fn ways(&mut self) -> Vec<usize> {
        let mut found = Vec::new();
        let mut ranked = 0;
        let strategies = self.plan.target.strategies().iter();
        for strategy in strategies.filter(|strategy| strategy.gives_up().is_none()) {
            let choice = match self.plan.of_strategy(strategy.id()) {
                Ok(choice) => choice,
                Err(error) => {
                    self.unusable.push((strategy.id(), error.what().to_owned()));
                    continue;
                }
            };
            let recipe = Recipe::of(&choice);
            let Some(own) = self.add(recipe.clone()) else { continue };
            found.push(own);
            if ranked < RANKED {
                found.extend(self.lanes(&recipe));
            }
            ranked += 1;
        }
        unique(found)
    }

    fn lanes(&mut self, recipe: &Recipe) -> Vec<usize> {
        if self.plan.request.lanes.is_some() {
            return Vec::new();
        }
        let most = LANES_EACH * self.plan.facts.processors;
        let counts = LANES.into_iter().filter(|lanes| *lanes <= most);
        counts.filter_map(|lanes| self.add(Recipe { lanes, ..recipe.clone() })).collect()
    }

    /// What differs from a candidate in one thing.
    pub(super) fn around(&mut self, base: usize) -> Vec<usize> {
        let Candidate { recipe, choice } = self.all[base].clone();
        let options = &self.plan.request.options;
        let (chunks, encoders) = (options.chunk_bytes.is_none(), options.encoders.is_none());
        let mut found = self.lanes(&recipe);
        if chunks {
            let own = recipe.chunk_bytes;
            let sizes = [own / 4, own / 2, own * 2, own * 4];
            for chunk_bytes in sizes.into_iter().filter(|bytes| CHUNK_BYTES.contains(bytes)) {
                found.extend(self.add(Recipe { chunk_bytes, ..recipe.clone() }));
            }
        }
        if encoders {
            let own = recipe.encoders;
            let most = self.plan.facts.processors.max(2);
            for encoders in
                [own - 1, own + 1].into_iter().filter(|count| (1..=most).contains(count))
            {
                found.extend(self.add(Recipe { encoders, ..recipe.clone() }));
            }
        }
        for (name, value) in tries(choice.strategy) {
            let is_own = choice.knobs.iter().any(|known| known == (name, value));
            if !is_own && !self.plan.request.knobs.contains_key(name) {
                let mut knobs = recipe.knobs.clone();
                knobs.insert(name.to_owned(), value.to_owned());
                found.extend(self.add(Recipe { knobs, ..recipe.clone() }));
            }
        }
        found.retain(|place| *place != base);
        unique(found)
    }

    /// What differs from a base as each of the others does, in all of their things at once.
    pub(super) fn together(&mut self, base: usize, others: &[usize]) -> Option<usize> {
        let from = self.all[base].recipe.clone();
        let mut sum = from.clone();
        for other in others {
            let Recipe { strategy, lanes, encoders, chunk_bytes, knobs } = &self.all[*other].recipe;
            if *strategy != from.strategy {
                continue;
            }
            // The first, which is the best, stands.
            if sum.lanes == from.lanes {
                sum.lanes = *lanes;
            }
            if sum.encoders == from.encoders {
                sum.encoders = *encoders;
            }
            if sum.chunk_bytes == from.chunk_bytes {
                sum.chunk_bytes = *chunk_bytes;
            }
            for (name, value) in knobs {
                if sum.knobs.get(name) == from.knobs.get(name) {
                    sum.knobs.insert(name.clone(), value.clone());
                }
            }
        }
        self.add(sum)
    }
}

/// Knobs and values that are worth measuring, those of the default among them.
fn tries(strategy: &dyn Strategy) -> impl Iterator<Item = (&'static str, &'static str)> {
    let of = |knob: &'static inrush::target::Knob| {
        debug_assert!(matches!(knob.kind, KnobKind::Choice(_) | KnobKind::Count { .. }));
        knob.tries.iter().map(move |value| (knob.name, *value))
    };
    strategy.knobs().iter().flat_map(of)
}

fn unique(mut places: Vec<usize>) -> Vec<usize> {
    let mut seen = std::collections::BTreeSet::new();
    places.retain(|place| seen.insert(*place));
    places
}
