//! A node that ends while a change is under way.

use hanaming::failure::CompletionStatus;
use hanaming::naming::ErrorKind;
use hanaming::protocol::Reply;

use crate::nodes::{Cluster, bind};

#[test]
fn a_change_that_is_under_way_when_its_node_is_closed_may_have_run() {
    let cluster = Cluster::start(2);
    // n1 is silent: the change waits for it.
    cluster.network.freeze("n1");
    let reply = std::thread::scope(|scope| {
        let changing = scope.spawn(|| cluster.change(0, bind("a", "x")));
        crate::nodes::until("it is stored", || cluster.shows(0, "a").is_some());
        cluster.nodes[0].close();
        changing.join().unwrap()
    });
    match reply {
        Reply::Failed(fault) => {
            let kind = ErrorKind::from_code(fault.code);
            assert_eq!((kind, fault.completion), (ErrorKind::ContextClosed, CompletionStatus::Maybe));
        }
        // It was acknowledged in the last moment.
        Reply::Done(_) | Reply::Stale(_) => {}
    }
}
