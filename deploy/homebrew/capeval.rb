# A formula for a tap: the program of a release, built from source. `scripts/formula.sh` fills in the release.
class Capeval < Formula
  desc "Caption evaluation, equal digit for digit to the reference programs"
  homepage "@HOME@"
  url "@ADDRESS@"
  sha256 "@SHA256@"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "rust" => :build

  def install
    system "cargo", "install", *std_cargo_args(path: "crates/cli"), "--features", "parquet", "--profile", "dist"
    generate_completions_from_executable(bin/"capeval", "completions")
    system bin/"capeval", "man", "man1"
    man1.install Dir["man1/*.1"]
  end

  test do
    (testpath/"refs.json").write '{"1": ["a dog runs", "the dog ran"]}'
    (testpath/"mine.json").write '{"1": "a dog runs"}'
    assert_match "ROUGE-L", shell_output("#{bin}/capeval score -r refs.json mine.json -m rouge-l")
  end
end
