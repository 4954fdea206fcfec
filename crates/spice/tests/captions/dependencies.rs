//! Dependencies of the reference program's trees: those of all golden captions.

use capeval_spice::Dependencies;

use crate::support;

#[test]
fn dependencies_equal_those_of_the_reference_program() {
    for caption in support::golden() {
        for (place, sentence) in caption.sentences.iter().enumerate() {
            let dependencies = Dependencies::new(&sentence.tree, place);
            assert_eq!(dependencies.basic.to_string(), sentence.basic.to_string(), "{}", caption.id);
            assert_eq!(dependencies.collapsed.to_string(), sentence.graph.to_string(), "{}", caption.id);
        }
    }
}
