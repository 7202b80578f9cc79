//! The budget of retries, with exact figures.

use hanaming::client::budget::Budget;

use crate::stage::ms;

#[test]
fn a_new_client_has_ten_and_then_one_every_tenth_of_a_second() {
    let mut budget = Budget::default();
    for _ in 0..10 {
        assert_eq!(budget.draw(ms(0)), Ok(()));
    }
    assert_eq!(budget.draw(ms(0)), Err(ms(100)));
    assert_eq!(budget.draw(ms(40)), Err(ms(100)));
    assert_eq!(budget.draw(ms(100)), Ok(()));
    assert_eq!(budget.draw(ms(100)), Err(ms(200)));
    assert_eq!(budget.available(ms(700)), 6);
    assert_eq!(budget.available(ms(60_000)), 10, "no more than ten are saved up by waiting");
}

#[test]
fn each_request_pays_in_a_fifth() {
    let mut budget = Budget::default();
    while budget.draw(ms(0)).is_ok() {}
    for _ in 0..5 {
        assert!(budget.draw(ms(0)).is_err());
        budget.deposit();
    }
    assert_eq!(budget.draw(ms(0)), Ok(()));
    assert_eq!(budget.draw(ms(0)), Err(ms(100)));
    for _ in 0..10_000 {
        budget.deposit();
    }
    assert_eq!(budget.available(ms(0)), 100, "what requests pay in has a bound too");
}

#[test]
fn parts_of_a_microsecond_add_up() {
    let mut budget = Budget::default();
    while budget.draw(ms(0)).is_ok() {}
    for nth in 1..=300_000_u64 {
        assert_eq!(budget.available(std::time::Duration::from_nanos(nth * 333)), nth * 333 / 100_000_000);
    }
}

#[test]
fn a_clock_that_stands_or_is_late_does_no_harm() {
    let mut budget = Budget::default();
    while budget.draw(ms(1000)).is_ok() {}
    assert_eq!(budget.draw(ms(500)), Err(ms(600)), "time that went back brings nothing");
    assert_eq!(budget.available(ms(1000)), 0);
    assert_eq!(budget.available(ms(1200)), 2);
}
