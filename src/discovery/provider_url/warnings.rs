//! What is to be told about a text, in order.

/// A list of sentences that stays short for any input: a text that breaks a rule a million times is told of it some
/// dozen times.
#[derive(Debug, Default)]
pub struct Warnings {
    said: Vec<String>,
    more: usize,
}

const MOST: usize = 50;

impl Warnings {
    /// Adds a sentence, unless the same was said.
    pub fn say(&mut self, sentence: String) {
        if self.said.len() == MOST {
            self.more += 1;
        } else if !self.said.contains(&sentence) {
            self.said.push(sentence);
        }
    }

    /// All of them.
    pub fn into_sentences(mut self) -> Vec<String> {
        if self.more > 0 {
            self.said.push(format!("and {} more of the kind", self.more));
        }
        self.said
    }
}
