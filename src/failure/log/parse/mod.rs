//! The text of one event becomes a chain.
//!
//! One [`walk`] over the words of the text, whatever its line breaks: classes open exceptions, links say how the next one
//! hangs on the one before, frames and fields belong to the last one. Where an exception goes is kept in a [`tree`], what is
//! known of it in a [`draft`].

mod draft;
mod members;
mod text;
mod traceback;
mod tree;
mod walk;

pub use walk::parse;
