//! When a question is put again: tables of what happens and when it is due then.

use std::time::Duration;

use hanaming::discovery::{Hint, Pace, Refresh, RefreshMode};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

const fn sec(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn rng() -> StdRng {
    StdRng::seed_from_u64(1)
}

/// One that was put at 0 and answered at 100 ms.
fn answered(mode: RefreshMode, good_for: Option<Duration>, rng: &mut StdRng) -> Refresh {
    let mut refresh = Refresh::new(mode, Pace::DNS);
    assert!(refresh.begin_if_due(ms(0)));
    refresh.answered(good_for, ms(100), rng);
    refresh
}

#[test]
fn each_mode_asks_again_when_it_says() {
    let table = [
        (RefreshMode::Ttl, Some(sec(10)), Some(9_000..=10_000)),
        (RefreshMode::Ttl, Some(sec(0)), Some(900..=1_000)),
        (RefreshMode::Ttl, Some(sec(86_400)), Some(27_000..=30_000)),
        (RefreshMode::Always, Some(sec(10)), Some(9_000..=10_000)),
        (RefreshMode::Every(ms(4_000)), Some(sec(10)), Some(3_600..=4_000)),
        (RefreshMode::Every(ms(10)), Some(sec(10)), Some(900..=900)),
        (RefreshMode::OnEmpty, Some(sec(10)), None),
        (RefreshMode::Ttl, None, None),
        (RefreshMode::Every(ms(4_000)), None, None),
    ];
    let mut rng = rng();
    for (mode, good_for, due) in table {
        let mut seen = Vec::new();
        for _ in 0..50 {
            seen.push(answered(mode, good_for, &mut rng).due().map(|due| due.abs_diff(ms(100)).as_millis()));
        }
        match &due {
            None => assert!(seen.iter().all(Option::is_none), "{mode:?} {good_for:?}: {seen:?}"),
            Some(range) => {
                assert!(seen.iter().all(|due| due.is_some_and(|due| range.contains(&due))), "{mode:?} {good_for:?}: {seen:?}");
                let differ = seen.iter().any(|due| *due != seen[0]);
                assert_eq!(differ, range.start() != range.end(), "{mode:?}: many clients don't ask in step");
            }
        }
    }
}

#[test]
fn what_happens_hastens_it_where_the_mode_heeds_that() {
    use Hint::{Connecting, Exhausted, Failed};
    let every = RefreshMode::Every(ms(60_000));
    let table = [
        (RefreshMode::Ttl, [true, true, false]),
        (every, [true, true, false]),
        (RefreshMode::Always, [true, true, true]),
        (RefreshMode::OnEmpty, [false, true, false]),
    ];
    for (mode, heeded) in table {
        for (hint, heeded) in [Failed, Exhausted, Connecting].into_iter().zip(heeded) {
            let mut refresh = answered(mode, Some(sec(30)), &mut rng());
            let before = refresh.due();
            assert_eq!(refresh.hint(hint, ms(200)), heeded, "{mode:?} {hint:?}");
            assert_eq!(refresh.due(), if heeded { Some(ms(1_000)) } else { before }, "{mode:?} {hint:?}");
            assert!(!refresh.hint(hint, ms(300)), "it was said before");
            let mut later = answered(mode, Some(sec(30)), &mut rng());
            later.hint(hint, ms(5_000));
            assert_eq!(later.due(), if heeded { Some(ms(5_000)) } else { before }, "{mode:?} {hint:?}");
        }
    }
}

#[test]
fn what_fails_is_repeated_with_backoff_and_hastened_only_where_nothing_else_is_left() {
    let mut rng = rng();
    for mode in [RefreshMode::Ttl, RefreshMode::OnEmpty] {
        let mut refresh = answered(mode, Some(sec(1)), &mut rng);
        refresh.hint(Hint::Exhausted, ms(2_000));
        let mut now = ms(2_000);
        for nominal in [1_000, 2_000, 4_000, 8_000, 10_000, 10_000] {
            assert!(refresh.begin_if_due(now));
            assert_eq!(refresh.due(), None, "it is under way");
            assert!(!refresh.begin_if_due(now + ms(60_000)));
            refresh.failed(now, &mut rng);
            let due = refresh.due().unwrap();
            let waits = due.abs_diff(now).as_millis();
            assert!((nominal * 4 / 5).max(1_000) <= waits && waits <= nominal, "{waits} after {nominal}");
            assert!(!refresh.hint(Hint::Failed, now), "{mode:?}");
            now = due;
        }
        assert!(refresh.begin_if_due(now));
        refresh.failed(now, &mut rng);
        assert!(refresh.hint(Hint::Exhausted, now + ms(10)));
        assert_eq!(refresh.due(), Some(now + ms(1_000)));
        assert!(refresh.begin_if_due(now + ms(1_000)));
        refresh.answered(Some(sec(5)), now + ms(1_000), &mut rng);
        assert_eq!(refresh.due().is_some(), mode == RefreshMode::Ttl, "and all is as before");
    }
}

#[test]
fn half_an_answer_is_asked_for_again_with_backoff_and_no_later_than_it_is_good_for() {
    let mut rng = rng();
    for (mode, good_for, nominal) in [
        (RefreshMode::Ttl, 60, [1_000, 2_000, 4_000, 8_000, 10_000, 10_000]),
        (RefreshMode::Ttl, 5, [1_000, 2_000, 4_000, 5_000, 5_000, 5_000]),
        (RefreshMode::OnEmpty, 5, [1_000, 2_000, 4_000, 8_000, 10_000, 10_000]),
        (RefreshMode::Every(ms(3_000)), 60, [1_000, 2_000, 3_000, 3_000, 3_000, 3_000]),
    ] {
        let mut refresh = Refresh::new(mode, Pace::DNS);
        let mut now = ms(0);
        for nominal in nominal {
            assert!(refresh.begin_if_due(now));
            refresh.half_answered(Some(sec(good_for)), now, &mut rng);
            let due = refresh.due().unwrap();
            let waits = due.abs_diff(now).as_millis();
            assert!((nominal * 4 / 5).max(1_000) <= waits && waits <= nominal, "{mode:?}: {waits} after {nominal}");
            now = due;
        }
        let mut hastened = refresh.clone();
        assert_eq!(
            hastened.hint(Hint::Failed, now.saturating_sub(ms(500))),
            mode != RefreshMode::OnEmpty,
            "a server that fails counts as ever"
        );
        assert!(refresh.begin_if_due(now));
        refresh.answered(Some(sec(30)), now, &mut rng);
        refresh.hint(Hint::Exhausted, now + ms(1_000));
        assert!(refresh.begin_if_due(now + ms(1_000)));
        refresh.half_answered(Some(sec(30)), now + ms(1_000), &mut rng);
        assert_eq!(refresh.due(), Some(now + ms(2_000)), "it begins anew");
    }
}

#[test]
fn an_answer_is_about_to_be_known_when_one_that_knows_more_is_near() {
    let rng = &mut rng();
    let mut refresh = Refresh::new(RefreshMode::Ttl, Pace::DNS);
    refresh.begin_if_due(ms(0));
    assert!(refresh.is_about_to_know(ms(0), ms(0)), "it is under way");
    refresh.answered(Some(sec(30)), ms(10), rng);
    assert!(!refresh.is_about_to_know(ms(500), ms(500)), "the next one is far");
    refresh.hint(Hint::Failed, ms(500));
    assert!(refresh.is_about_to_know(ms(500), ms(500)), "it's due at 1 s");
    assert!(!refresh.is_about_to_know(ms(0), ms(500)), "this was asked since");
    refresh.begin_if_due(ms(1_000));
    refresh.failed(ms(1_001), rng);
    assert!(!refresh.is_about_to_know(ms(1_500), ms(1_500)), "who knows");
}

/// Invariant 28.
#[test]
fn whatever_happens_it_is_never_put_twice_within_a_second() {
    for seed in 0..300 {
        let mut rng = StdRng::seed_from_u64(seed);
        let modes =
            [RefreshMode::Ttl, RefreshMode::OnEmpty, RefreshMode::Always, RefreshMode::Every(ms(rng.random_range(1..3000)))];
        let mut refresh = Refresh::new(modes[rng.random_range(0..modes.len())], Pace::DNS);
        let (mut now, mut last) = (ms(0), None::<Duration>);
        for _ in 0..200 {
            now += ms(rng.random_range(0..400));
            match rng.random_range(0..6) {
                0 => drop(refresh.hint(Hint::Failed, now)),
                1 => drop(refresh.hint(Hint::Exhausted, now)),
                2 => drop(refresh.hint(Hint::Connecting, now)),
                _ if refresh.begin_if_due(now) => {
                    assert!(last.is_none_or(|last| now >= last + ms(1_000)), "seed {seed}: at {last:?} and at {now:?}");
                    last = Some(now);
                    now += ms(rng.random_range(0..3_000));
                    let good_for = Some(sec(rng.random_range(0..40)));
                    match rng.random_range(0..4) {
                        0 => refresh.answered(good_for, now, &mut rng),
                        1 => refresh.half_answered(good_for, now, &mut rng),
                        _ => refresh.failed(now, &mut rng),
                    }
                }
                _ => {}
            }
        }
    }
}
