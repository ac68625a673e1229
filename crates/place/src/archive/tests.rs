use std::io::Write as _;

use super::*;

fn limit() -> Limit {
    Limit::of(1, None)
}

#[test]
fn small_things_may_unpack_to_much_and_large_ones_to_a_multiple() {
    assert!(Limit::of(0, None).expect(1 << 30).is_ok());
    assert!(Limit::of(0, None).expect((1 << 30) + 1).is_err());
    assert!(Limit::of(10 << 20, None).expect(2_000 << 20).is_ok());
    assert!(Limit::of(10 << 20, None).expect((2_000 << 20) + 1).is_err());
    assert!(Limit::of(0, Some(5)).expect(6).is_err());
    assert!(Limit::of(0, Some(5 << 30)).expect(4 << 30).is_ok());
    assert_eq!(limit().most, 1 << 30);
}

#[test]
fn what_is_hidden_is_not_what_leads_upwards() {
    assert!(is_hidden("a/.b/c.csv") && is_hidden(".a") && is_hidden("__MACOSX/a.csv"));
    assert!(!is_hidden("../a.csv") && !is_hidden("./a.csv") && !is_hidden("a.b"));
}

/// Members of a compressed tar are read in any order, some to their end and some not.
#[test]
fn members_of_a_compressed_tar_are_read_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tgz");
    let file = File::create(&path).unwrap();
    let mut archive =
        ::tar::Builder::new(flate2::write::GzEncoder::new(file, flate2::Compression::fast()));
    let text = |at: usize| format!("{at},").repeat(1_000 * (at + 1)).into_bytes();
    for at in 0..5 {
        let mut header = ::tar::Header::new_gnu();
        header.set_size(text(at).len() as u64);
        archive.append_data(&mut header, format!("{at}.csv"), text(at).as_slice()).unwrap();
    }
    archive.into_inner().unwrap().finish().unwrap().flush().unwrap();
    let place = Place::File(path);
    let kind = Kind::of(&place, &Stop::default()).unwrap().unwrap();
    assert_eq!(kind, Kind::Tar(Some(Compression::Gzip)));
    let never = AtomicBool::new(false);
    let found = members(&place, kind, &Chosen::All, None, &never, &mut Vec::new()).unwrap();
    for at in [0, 1, 4, 2, 2, 0, 3, 4] {
        let mut all = Vec::new();
        let mut reader = found[at].open().unwrap();
        if at == 2 {
            reader.by_ref().take(10).read_to_end(&mut all).unwrap();
            assert_eq!(all, text(at)[..10]);
            continue;
        }
        reader.read_to_end(&mut all).unwrap();
        assert!(all == text(at), "{at}");
    }
    // Two at once, too.
    let mut both = [found[1].open().unwrap(), found[3].open().unwrap()];
    for (at, reader) in [1, 3].into_iter().zip(&mut both) {
        let mut all = Vec::new();
        reader.read_to_end(&mut all).unwrap();
        assert!(all == text(at), "{at}");
    }
}
