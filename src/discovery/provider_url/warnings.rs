//! What is to be told about a text, in order.

/// A list of sentences that stays short for any input: a text that breaks a rule a million times is told of it some
/// dozen times.
#[derive(Debug, Default)]
pub struct Warnings {
    said: Vec<(usize, String)>,
    more: usize,
}

const MOST: usize = 50;

impl Warnings {
    /// Adds a sentence about the whole, unless the same was said.
    pub fn say(&mut self, sentence: String) {
        self.say_of(usize::MAX, sentence);
    }

    /// Adds a sentence about one line, unless the same was said.
    pub fn say_of(&mut self, line: usize, sentence: String) {
        if self.said.len() == MOST {
            self.more += 1;
        } else if !self.said.iter().any(|(_, said)| *said == sentence) {
            self.said.push((line, sentence));
        }
    }

    /// All of them: by their lines, then what is about the whole.
    pub fn into_sentences(mut self) -> Vec<String> {
        self.said.sort_by_key(|(line, _)| *line);
        let more = (self.more > 0).then(|| format!("and {} more of the kind", self.more));
        self.said.into_iter().map(|(_, sentence)| sentence).chain(more).collect()
    }
}
