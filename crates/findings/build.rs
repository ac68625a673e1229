//! plotly.js as the report's page carries it, compressed into the command: 1.4 MB instead of 4.7.

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let out = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    let file = std::fs::File::create(Path::new(&out).join("plotly.js.gz"))
        .expect("OUT_DIR can be written to");
    let mut gzip = GzEncoder::new(file, Compression::default());
    gzip.write_all(plotly_js().as_bytes()).expect("OUT_DIR has room");
    gzip.finish().expect("OUT_DIR has room");
}

/// The script itself. The crate hands out script elements: plotly.js, and MathJax, which no label here needs and which would add 2 MB.
fn plotly_js() -> String {
    let scripts = plotly::Plot::offline_js_sources();
    let begin = scripts.find('>').map_or(0, |at| at + 1);
    let end = scripts[begin..].find("</script>").map_or(scripts.len(), |at| begin + at);
    scripts[begin..end].to_owned()
}
