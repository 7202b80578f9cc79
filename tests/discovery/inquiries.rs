//! What is remembered of a question: the last good answer, whatever came after it.

use std::time::Duration;

use hanaming::discovery::source::relative_weights;
use hanaming::discovery::{Answer, Family, Inquiry, Origin, Place, Question, RefreshMode};
use hanaming::topology::Endpoint;
use rand::SeedableRng as _;
use rand::rngs::StdRng;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn answer(hosts: &[&str]) -> Answer {
    let places = hosts.iter().map(|host| Place::new(Endpoint::new(*host, 80), Origin::Dns)).collect();
    Answer::new(places, Duration::from_secs(5))
}

fn inquiry() -> Inquiry {
    Inquiry::new(Question::Addresses(Endpoint::new("orders.prod", 80)), RefreshMode::Ttl)
}

fn shown(inquiry: &Inquiry) -> String {
    let hosts = inquiry.places().iter().map(|place| place.source.to_string()).collect::<Vec<_>>().join(" ");
    let trouble = inquiry.trouble().map_or(String::new(), |trouble| format!(" ({trouble})"));
    format!("{hosts}{trouble}")
}

#[test]
fn a_failed_or_an_empty_answer_removes_nothing_and_is_told() {
    let rng = &mut StdRng::seed_from_u64(1);
    let mut inquiry = inquiry();
    assert!(inquiry.is_open());
    assert!(!inquiry.take(Err("no such name".to_owned()), ms(1), rng));
    assert_eq!((shown(&inquiry).as_str(), inquiry.is_open()), (" (no such name)", false));
    assert!(inquiry.take(Ok(answer(&["10.0.0.2", "10.0.0.1", "10.0.0.2"])), ms(2), rng));
    assert_eq!(shown(&inquiry), "10.0.0.1:80 10.0.0.2:80");
    assert!(!inquiry.take(Ok(answer(&["10.0.0.1", "10.0.0.2"])), ms(3), rng), "the same ones in another order");
    assert!(!inquiry.take(Ok(answer(&[])), ms(4), rng));
    assert_eq!(shown(&inquiry), "10.0.0.1:80 10.0.0.2:80 (an empty list was told for the addresses (A, AAAA) of orders.prod)",);
    assert!(!inquiry.take(Err("silent".to_owned()), ms(5), rng));
    assert_eq!(shown(&inquiry), "10.0.0.1:80 10.0.0.2:80 (silent)");
    assert!(inquiry.take(Ok(answer(&["10.0.0.3"])), ms(6), rng));
    assert_eq!(shown(&inquiry), "10.0.0.3:80");
    assert_eq!(inquiry.counts(), (0, 3));
}

#[test]
fn where_one_family_is_silent_its_addresses_stay_and_it_is_asked_again_soon_and_counted() {
    let rng = &mut StdRng::seed_from_u64(1);
    let mut inquiry = inquiry();
    inquiry.begin_if_due(ms(0));
    inquiry.take(Ok(answer(&["10.0.0.1", "::1"])), ms(0), rng);
    let half = |hosts: &[&str], family| Answer { silent_on: Some((family, "no answer".into())), ..answer(hosts) };
    assert!(inquiry.take(Ok(half(&["10.0.0.2"], Family::V6)), ms(1), rng));
    assert_eq!(shown(&inquiry), "10.0.0.2:80 [::1]:80 (no answer)");
    assert!(inquiry.due().unwrap() <= ms(1_101));
    assert_eq!(inquiry.counts(), (1, 1));
    let hasty = Answer { hasty: true, ..half(&["10.0.0.2"], Family::V6) };
    assert!(!inquiry.take(Ok(hasty), ms(1), rng));
    assert_eq!((inquiry.counts(), shown(&inquiry).as_str()), ((1, 1), "10.0.0.2:80 [::1]:80 (no answer)"));
    assert!(inquiry.due().unwrap() <= ms(1_001));
    assert!(inquiry.take(Ok(half(&["::2"], Family::V4)), ms(2), rng));
    assert_eq!(shown(&inquiry), "10.0.0.2:80 [::2]:80 (no answer)");
    assert!(inquiry.take(Ok(answer(&["::2"])), ms(3), rng));
    assert_eq!(shown(&inquiry), "[::2]:80");
}

#[test]
fn weights_of_srv_records_count_beside_those_of_their_own_priority() {
    assert_eq!(relative_weights(&[(10, 60), (10, 20), (10, 10), (20, 7)]), [2.0, 60.0 / 90.0, 1.0 / 3.0, 1.0]);
    assert_eq!(relative_weights(&[(0, 0), (0, 0)]), [1.0, 1.0]);
    let mixed = relative_weights(&[(0, 0), (0, 100)]);
    assert!(mixed[0] > 0.0 && mixed[0] < 0.001 && mixed[1] > 1.99, "{mixed:?}");
    assert!(relative_weights(&[]).is_empty());
}
