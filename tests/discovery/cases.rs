//! The settings of `data/provider_settings.jsonl`, as practitioners met them.

use hanaming::discovery::provider_url::ProviderUrl;
use hanaming::discovery::{environment, properties, provider_url};
use serde_json::Value;

#[test]
fn what_practitioners_met_is_read_as_it_was_meant() {
    let mut count = 0;
    for line in include_str!("data/provider_settings.jsonl").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let id = case["id"].as_str().unwrap();
        let input = case["input"].as_str().unwrap();
        let (url, warnings) = if case["kind"] == "url" {
            let url = provider_url::read(input, None).unwrap();
            (Some(url.clone()), url.warnings)
        } else {
            let read = environment::read(&properties::read(input));
            (read.provider.map(Result::unwrap), read.warnings)
        };
        if let Some(expected) = case["expected"]["endpoints"].as_array() {
            check(id, &url.unwrap(), expected);
        }
        if case["expected"]["action"] == "surface" {
            assert!(!warnings.is_empty(), "{id}: something is odd, and nothing is said");
        }
        count += 1;
    }
    assert_eq!(count, 8);
}

fn check(id: &str, url: &ProviderUrl, expected: &[Value]) {
    assert_eq!(url.endpoints.len(), expected.len(), "{id}: {url:?}");
    for (endpoint, expected) in url.endpoints.iter().zip(expected) {
        assert_eq!(endpoint.scheme, expected["scheme"], "{id}");
        assert_eq!(endpoint.host, expected["host"], "{id}");
        assert_eq!(endpoint.port.map(u64::from), expected["port"].as_u64(), "{id}");
        for (key, value) in [("defaulted", endpoint.defaulted), ("multi_address", endpoint.multi_address)] {
            if let Some(wanted) = expected[key].as_bool() {
                assert_eq!(value, wanted, "{id}: {key}");
            }
        }
    }
}
