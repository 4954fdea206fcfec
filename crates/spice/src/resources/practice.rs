//! Captions to practise on: the pruning of the parser is fitted to them when the grammar is compiled.
//!
//! Nothing that is parsed depends on them but the time it takes. They are put together from parts, so that the kinds of
//! phrases that captions are made of occur often and in many combinations.

/// Who or what is seen.
const SUBJECTS: &str = "a man/a woman/two people/a group of people/a young boy/a little girl in a pink dress/the dog/\
    a black and white cat/several people/a man in a red shirt/an old woman with a hat/a bathroom with a toilet and a sink/\
    a large brown horse/a close up of a plate of food/three young men/a couple of zebras/a bus/a train/a person/\
    a baseball player/a tennis player/some cows/a street sign/a man and a woman/a bunch of bananas/a white plate/\
    a small child/there is a clock tower that/a red fire hydrant/a kitchen with wooden cabinets/two giraffes/\
    a surfer/a skateboarder/an airplane/many different kinds of fruit/a girl with long hair/a herd of elephants/\
    a pizza with cheese and tomatoes/a lady/a bird/a teddy bear/a laptop computer/a vase of flowers/someone/\
    a yellow and blue motorcycle/people/a very tall building/a boy wearing a helmet/a picture of a living room/\
    an adult and a child/a guy/children/a street filled with lots of traffic/one of the players/the back of a truck";

/// What it does, or is.
const PREDICATES: &str = "is riding a skateboard/sitting on a bench/standing in a field/is holding a tennis racket/\
    is standing next to a parked car/walking down the street/are playing a game of frisbee/with a bowl of soup/\
    is eating a piece of cake/flying through the air/are sitting at a table/parked on the side of the road/\
    laying on a bed/is looking at the camera/talking on a cell phone/that is sitting on top of a counter/\
    jumps over a fence/are grazing/holding an umbrella/wearing a suit and tie/swinging a bat at a ball/\
    is driving past a building/and a glass of wine/riding a wave on a surfboard/filled with people/\
    is being pulled by two horses/preparing to throw a ball/with his arms up/is about to hit the ball/\
    stands near a large tree/traveling down tracks/has a sandwich and french fries/is covered in snow/\
    are posing for a picture/looks out of a window/sits beside a lamp/made of stone/running along the beach/\
    smiles while brushing her teeth/of different colors/is taking a picture of himself/watching television/\
    hanging from a wall/using a laptop/that has been cut in half/trying to catch a frisbee/on a leash/\
    doing a trick/stopped at a red light/are gathered around a table/is skiing/with a dog/crossing/\
    full of books and papers/carrying bags/flies a kite/drinking water from a river";

/// Where, when and with what.
const PLACES: &str = "/in the park/on a sunny day/next to a window/in front of a building/on a city street at night/\
    near the ocean/with trees in the background/in a room/on top of a wooden table/at the beach/in the snow/\
    beside a lake/while people watch/under a bridge/on a court/in the middle of a grassy field/and a remote/\
    behind a fence/to the side of a road/outside/with another man/during a game/by the water/at a baseball game/\
    on a tennis court/in a large crowd/on the floor/down a snowy hill/and looking up/in black and white/over a city/\
    surrounded by tall grass/between two cars/from a street/while holding a phone/on the grass/in his hand/\
    with mountains behind them/across a dirt road/for the camera/at an airport/in a kitchen/around a corner/\
    and smiling/against a brick wall/inside a store/through a forest/as a crowd looks on/together";

/// A number of captions, each as its words. Some are two in one.
pub(super) fn captions(count: usize) -> Vec<Vec<&'static str>> {
    let lists = [SUBJECTS, PREDICATES, PLACES].map(|list| list.split('/').collect::<Vec<_>>());
    // Steps that have no divisor in common with the lengths visit every part.
    let part = |list: usize, step: usize, at: usize| lists[list][(at * step + at / 7) % lists[list].len()];
    let caption = |at| [part(0, 17, at), part(1, 23, at), part(2, 29, at)];
    let parts = |at: usize| match at % 6 {
        0 => [&caption(at)[..], &["and"], &caption(at + 3)].concat(),
        3 => [&caption(at)[..], &[part(2, 13, at)]].concat(),
        _ => caption(at).to_vec(),
    };
    (0..count).map(|at| parts(at).iter().flat_map(|part| part.split_whitespace()).collect()).collect()
}
