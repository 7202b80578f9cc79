//! What failures mean: the tables, the verdicts, and what is found in logs of any shape.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails, fails")]

mod cases;
mod classes;
mod connecting;
mod linear;
mod reading;
mod records;
mod reformatting;
mod rules;
mod shadows;
