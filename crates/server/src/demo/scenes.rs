//! Pictures that the program draws itself, like screenshots of games that do not exist, and captions of them.

use image::{Rgb, RgbImage};

use super::texts::capital;

/// The width of a picture.
const WIDTH: i32 = 960;

/// The height of a picture.
const HEIGHT: i32 = 540;

/// The line between the ground and the sky.
const HORIZON: i32 = 380;

/// The content of a picture.
#[derive(Clone, Copy, Debug)]
pub struct Scene {
    hero: usize,
    place: usize,
    time: usize,
    trees: usize,
}

/// Heroes in English and Chinese, with their colours.
const HEROES: [(&str, &str, [u8; 3]); 4] = [
    ("a knight in red armour", "一名身穿红色盔甲的骑士", [196, 48, 43]),
    ("a blue robot", "一个蓝色的机器人", [52, 104, 212]),
    ("a small green dragon", "一条绿色的小龙", [58, 158, 74]),
    ("a wizard with a purple hat", "一位戴紫色帽子的巫师", [128, 62, 168]),
];

/// Places in English and Chinese.
const PLACES: [(&str, &str); 4] = [
    ("a grey castle with two towers", "一座有两个塔楼的灰色城堡"),
    ("a wooden house with a red roof", "一间红屋顶的木屋"),
    ("a high mountain with snow on its top", "一座山顶积雪的高山"),
    ("a stone pyramid in the sand", "沙地上的一座石头金字塔"),
];

/// Times of the day in English and Chinese, with the colours of the sky above and below and of the ground.
const TIMES: [(&str, &str, [[u8; 3]; 3]); 3] = [
    ("under a bright blue sky", "晴朗的蓝天下", [[110, 176, 240], [206, 231, 250], [104, 160, 82]]),
    ("at sunset", "夕阳西下时", [[92, 62, 130], [246, 158, 88], [112, 98, 62]]),
    ("on a dark night with a full moon", "满月的黑夜里", [[10, 14, 38], [44, 54, 96], [38, 58, 52]]),
];

impl Scene {
    /// The scene with this number; neighbours differ.
    pub fn of(number: usize) -> Self {
        Self {
            hero: number % 4,
            place: number / 4 % 4,
            time: (number * 2 + number / 5) % 3,
            trees: number % 5,
        }
    }

    /// The title of the game that it could be from.
    pub fn game(self) -> &'static str {
        ["Castles of Nowhere", "Roofs and Woods", "Above the Snow", "Sand and Stone"][self.place]
    }

    /// A sentence that a person might write about it; the number chooses among them.
    pub fn sentence(self, language: &str, k: usize) -> String {
        let (hero, held, _) = HEROES[self.hero];
        let (place, site) = PLACES[self.place];
        let (time, when, _) = TIMES[self.time];
        if language == "zh" {
            return match k % 3 {
                0 => format!("{when}，{held}站在{site}前面。"),
                1 => format!("{site}前站着{held}，{}。", self.trees_in_chinese()),
                _ => format!("{held}独自停在{site}的左边，{when}四周没有别人。"),
            };
        }
        match k % 3 {
            0 => format!("{} stands in front of {place} {time}.", capital(hero)),
            1 => format!("{} is behind {hero} and {}.", capital(place), self.trees_in_english()),
            _ => format!("{} waits all alone to the left of {place} {time}.", capital(hero)),
        }
    }

    /// A sentence that gets something wrong.
    pub fn mistaken(self, language: &str) -> String {
        let other = Self { hero: (self.hero + 1) % 4, place: (self.place + 2) % 4, ..self };
        other.sentence(language, 0)
    }

    fn trees_in_english(self) -> String {
        match self.trees {
            0 => "an empty field".to_owned(),
            1 => "a single tree".to_owned(),
            n => format!("a row of {} trees", ["two", "three", "four"][n - 2]),
        }
    }

    fn trees_in_chinese(self) -> String {
        match self.trees {
            0 => "周围是空旷的田野".to_owned(),
            n => format!("旁边有{}棵树", ["一", "两", "三", "四"][n - 1]),
        }
    }

    /// The picture.
    pub fn draw(self) -> RgbImage {
        let (_, _, [above, below, ground]) = TIMES[self.time];
        let mut canvas = Canvas(RgbImage::from_fn(WIDTH as u32, HEIGHT as u32, |_, y| {
            Rgb(mixed(above, below, (y as f32 / HORIZON as f32).min(1.0)))
        }));
        let light = [[255, 240, 170], [255, 214, 150], [240, 240, 226]][self.time];
        let (x, y) = (760.0, [96.0, 318.0, 112.0][self.time]);
        canvas.glow((x, y), light);
        canvas.disc((x, y), 40.0, light, 1.0);
        match self.time {
            2 => canvas.stars(below),
            _ => canvas.clouds(self.trees, mixed(light, [255, 255, 255], 0.6)),
        }
        let dark = mixed(ground, [0, 0, 0], [0.0, 0.15, 0.3][self.time]);
        let phase = self.hero as f32 + 1.7 * self.place as f32;
        canvas.hills(300.0, 46.0, 210.0, phase, mixed(dark, below, 0.62));
        canvas.hills(340.0, 30.0, 140.0, phase * 2.3, mixed(dark, below, 0.35));
        let sand = [214, 186, 120];
        let near = if self.place == 3 { mixed(sand, dark, [0.0, 0.25, 0.6][self.time]) } else { dark };
        canvas.hills(HORIZON as f32, 5.0, 320.0, phase, near);
        canvas.floor(near);
        let shade = [0.0, 0.18, 0.42][self.time];
        match self.place {
            0 => canvas.castle(shade),
            1 => canvas.house(shade),
            2 => canvas.mountain(shade, near),
            _ => canvas.pyramid(shade),
        }
        for tree in 0..self.trees as i32 {
            canvas.tree(704 + 62 * tree, HORIZON + 16 + 10 * (tree % 2), shade);
        }
        canvas.grass(self.hero, mixed(near, [255, 255, 255], 0.16));
        canvas.hero(self.hero);
        canvas.0
    }
}

fn mixed(a: [u8; 3], b: [u8; 3], share: f32) -> [u8; 3] {
    std::array::from_fn(|k| (f32::from(a[k]) * (1.0 - share) + f32::from(b[k]) * share) as u8)
}

/// A darker colour, for what is in the shade or lit by the moon.
fn shaded(colour: [u8; 3], share: f32) -> [u8; 3] {
    mixed(colour, [16, 20, 44], share)
}

struct Canvas(RgbImage);

impl Canvas {
    /// Covers a part of a pixel, so that edges are smooth.
    fn tint(&mut self, x: i32, y: i32, colour: [u8; 3], share: f32) {
        if share > 0.0 && (0..WIDTH).contains(&x) && (0..HEIGHT).contains(&y) {
            let pixel = self.0.get_pixel_mut(x as u32, y as u32);
            *pixel = Rgb(mixed(pixel.0, colour, share.min(1.0)));
        }
    }

    fn rectangle(&mut self, (x, y): (i32, i32), (width, height): (i32, i32), colour: [u8; 3]) {
        for down in 0..height {
            for across in 0..width {
                self.tint(x + across, y + down, colour, 1.0);
            }
        }
    }

    fn disc(&mut self, (x, y): (f32, f32), radius: f32, colour: [u8; 3], share: f32) {
        let reach = radius.ceil() as i32;
        let (column, row) = (x as i32, y as i32);
        for down in -reach..=reach {
            for across in -reach..=reach {
                let distance = ((column + across) as f32 - x).hypot((row + down) as f32 - y);
                self.tint(
                    column + across,
                    row + down,
                    colour,
                    share * (radius - distance + 0.5).clamp(0.0, 1.0),
                );
            }
        }
    }

    /// Light around the sun or the moon.
    fn glow(&mut self, (x, y): (f32, f32), colour: [u8; 3]) {
        const REACH: f32 = 190.0;
        for row in (y - REACH).max(0.0) as i32..((y + REACH) as i32).min(HEIGHT) {
            for column in (x - REACH) as i32..((x + REACH) as i32).min(WIDTH) {
                let distance = (column as f32 - x).hypot(row as f32 - y);
                self.tint(column, row, colour, 0.5 * (1.0 - distance / REACH).max(0.0).powi(2));
            }
        }
    }

    fn circle(&mut self, x: i32, y: i32, radius: i32, colour: [u8; 3]) {
        self.disc((x as f32, y as f32), radius as f32, colour, 1.0);
    }

    /// A triangle with its base at the bottom; the right side is in the shade.
    fn triangle(&mut self, (x, y): (i32, i32), half: i32, height: i32, colour: [u8; 3]) {
        let right = shaded(colour, 0.14);
        for down in 0..height {
            let reach = half as f32 * down as f32 / height as f32;
            for across in -half..=half {
                let share = (reach - (across as f32).abs() + 0.5).clamp(0.0, 1.0);
                self.tint(x + across, y + down, if across > 0 { right } else { colour }, share);
            }
        }
    }

    /// Rolling ground from a line to the bottom.
    fn hills(&mut self, line: f32, size: f32, length: f32, phase: f32, colour: [u8; 3]) {
        for x in 0..WIDTH {
            let at = x as f32 / length + phase;
            let top = line - size * (0.6 * at.sin() + 0.4 * (2.3 * at + 1.0).sin());
            for y in top.floor() as i32..HEIGHT {
                self.tint(x, y, colour, (y as f32 - top + 0.5).clamp(0.0, 1.0));
            }
        }
    }

    /// Darkens the ground towards the viewer.
    fn floor(&mut self, colour: [u8; 3]) {
        for y in HORIZON..HEIGHT {
            let share = 0.5 * (y - HORIZON) as f32 / (HEIGHT - HORIZON) as f32;
            for x in 0..WIDTH {
                self.tint(x, y, shaded(colour, 0.45), share);
            }
        }
    }

    fn stars(&mut self, sky: [u8; 3]) {
        for star in 0..70_i32 {
            let (x, y) = (star * 397 % WIDTH, star * 211 % 260);
            let bright = 0.3 + 0.1 * (star % 6) as f32;
            self.disc(
                (x as f32, y as f32),
                0.8 + 0.3 * (star % 3) as f32,
                mixed(sky, [255, 255, 255], 0.8),
                bright,
            );
        }
    }

    fn clouds(&mut self, number: usize, colour: [u8; 3]) {
        for cloud in 0..3 + number % 2 {
            let (x, y) = ((cloud * 331 + number * 97) % 900, 54 + (cloud * 67 + number * 31) % 130);
            for (across, down, radius) in
                [(0.0, 0.0, 26.0), (30.0, -12.0, 34.0), (66.0, 0.0, 24.0), (34.0, 6.0, 26.0)]
            {
                self.disc((x as f32 + across, y as f32 + down), radius, colour, 0.5);
            }
        }
    }

    fn grass(&mut self, number: usize, colour: [u8; 3]) {
        for blade in 0..90_i32 {
            let x = (blade * 251 + 37 * number as i32) % WIDTH;
            let y = HORIZON + 20 + blade * 83 % (HEIGHT - HORIZON - 26);
            for up in 0..7 {
                self.tint(x + up / 3, y - up, colour, 0.55);
            }
        }
    }

    /// The shadow of something that stands on the ground.
    fn shadow(&mut self, x: i32, y: i32, half: i32) {
        for across in -half..=half {
            let reach = 9.0 * (1.0 - (across as f32 / half as f32).powi(2)).sqrt();
            for down in -10..=10 {
                self.tint(
                    x + across,
                    y + down,
                    [10, 14, 20],
                    0.3 * (reach - (down as f32).abs()).clamp(0.0, 1.0),
                );
            }
        }
    }

    fn castle(&mut self, shade: f32) {
        let (wall, dark) = (shaded([164, 164, 172], shade), shaded([70, 68, 78], shade));
        let glow = [255, 214, 120];
        self.shadow(510, 392, 190);
        self.rectangle((390, 210), (240, 182), wall);
        for row in 0..9 {
            self.rectangle((390, 210 + 20 * row), (240, 1), shaded(wall, 0.16));
            for stone in 0..6 {
                self.rectangle(
                    (390 + 40 * stone + 20 * (row % 2), 210 + 20 * row),
                    (1, 20),
                    shaded(wall, 0.16),
                );
            }
        }
        for (tower, roof) in [(350, [176, 62, 58]), (600, [62, 90, 150])] {
            self.rectangle((tower, 140), (70, 252), shaded(wall, 0.12));
            self.rectangle((tower + 48, 140), (22, 252), shaded(wall, 0.24));
            self.triangle((tower + 35, 72), 46, 70, shaded(roof, shade));
            self.rectangle((tower + 26, 190), (18, 34), if shade > 0.3 { glow } else { dark });
            self.circle(tower + 35, 190, 9, if shade > 0.3 { glow } else { dark });
        }
        for tooth in 0..7 {
            self.rectangle((424 + 26 * tooth, 196), (15, 14), wall);
        }
        self.rectangle((480, 296), (60, 96), dark);
        self.circle(510, 296, 30, dark);
    }

    fn house(&mut self, shade: f32) {
        let wood = shaded([168, 118, 72], shade);
        self.shadow(530, 392, 150);
        self.rectangle((590, 150), (26, 70), shaded([120, 80, 70], shade));
        for puff in 0..4 {
            let (x, y) = (606.0 + 14.0 * puff as f32, 132.0 - 24.0 * puff as f32);
            self.disc((x, y), 9.0 + 4.0 * puff as f32, [232, 232, 236], 0.4 - 0.08 * puff as f32);
        }
        self.rectangle((420, 250), (220, 142), wood);
        for plank in 0..9 {
            self.rectangle((420, 250 + 16 * plank), (220, 1), shaded(wood, 0.2));
        }
        self.triangle((530, 160), 140, 92, shaded([190, 62, 48], shade));
        self.rectangle((505, 310), (50, 82), shaded([88, 56, 34], shade));
        self.circle(546, 352, 3, [240, 210, 120]);
        for window in [440, 580] {
            self.rectangle((window - 3, 282), (46, 46), shaded([236, 226, 208], shade));
            self.rectangle(
                (window, 285),
                (40, 40),
                if shade > 0.1 { [255, 222, 130] } else { [168, 206, 226] },
            );
            self.rectangle((window + 19, 285), (3, 40), shaded([236, 226, 208], shade));
            self.rectangle((window, 304), (40, 3), shaded([236, 226, 208], shade));
        }
    }

    fn mountain(&mut self, shade: f32, ground: [u8; 3]) {
        self.triangle((420, 190), 230, 200, shaded([128, 124, 140], shade));
        self.triangle((560, 60), 320, 330, shaded([108, 104, 122], shade));
        self.triangle((560, 60), 104, 108, shaded([246, 248, 252], shade * 0.6));
        // Where the snow ends, in points.
        for (k, x) in (0..6).map(|k| (k, 478 + 33 * k)) {
            self.triangle((x, 150 + 6 * (k % 2)), 17, 18, shaded([108, 104, 122], shade));
        }
        self.hills(388.0, 8.0, 120.0, 0.4, ground);
        self.floor(ground);
    }

    fn pyramid(&mut self, shade: f32) {
        let stone = shaded([204, 170, 98], shade);
        self.triangle((330, 262), 120, 124, shaded(stone, 0.1));
        self.triangle((560, 120), 250, 266, stone);
        for row in 1..9 {
            let half = 250 * row * 29 / 266;
            self.rectangle((560 - half, 120 + row * 29), (2 * half, 2), shaded(stone, 0.24));
        }
        self.rectangle((546, 346), (28, 40), shaded([90, 68, 40], shade));
    }

    fn tree(&mut self, x: i32, foot: i32, shade: f32) {
        self.shadow(x, foot, 30);
        self.rectangle((x - 6, foot - 60), (12, 60), shaded([104, 72, 46], shade));
        let leaves = shaded([62, 134, 72], shade);
        for (across, down, radius) in [(-16, -70, 24), (16, -72, 24), (0, -94, 28)] {
            self.circle(x + across, foot + down, radius, leaves);
        }
        self.circle(x - 8, foot - 98, 12, mixed(leaves, [255, 255, 220], 0.16));
    }

    fn hero(&mut self, hero: usize) {
        let (_, _, colour) = HEROES[hero];
        let (dark, bright) = (mixed(colour, [0, 0, 0], 0.35), mixed(colour, [255, 255, 255], 0.22));
        self.shadow(226, 470, 74);
        self.rectangle((192, 396), (24, 72), dark);
        self.rectangle((236, 396), (24, 72), dark);
        self.rectangle((180, 300), (92, 106), colour);
        self.rectangle((180, 300), (14, 106), bright);
        self.circle(226, 304, 46, colour);
        self.rectangle((160, 312), (18, 72), dark);
        self.rectangle((274, 312), (18, 72), dark);
        self.rectangle((180, 380), (92, 10), dark);
        match hero {
            0 => {
                self.circle(226, 258, 38, [196, 200, 208]);
                self.rectangle((198, 250), (56, 10), [30, 30, 34]);
                self.triangle((226, 196), 10, 28, colour);
                self.rectangle((300, 216), (8, 176), [222, 226, 232]);
                self.rectangle((286, 366), (36, 8), [150, 112, 52]);
            }
            1 => {
                self.rectangle((186, 226), (80, 66), colour);
                self.rectangle((186, 226), (80, 8), bright);
                self.circle(208, 256, 10, [250, 240, 120]);
                self.circle(244, 256, 10, [250, 240, 120]);
                self.rectangle((206, 276), (40, 5), dark);
                self.rectangle((223, 196), (6, 30), dark);
                self.circle(226, 192, 7, [250, 110, 90]);
                self.circle(226, 340, 14, bright);
            }
            2 => {
                self.triangle((132, 268), 46, 110, dark);
                self.triangle((320, 268), 46, 110, dark);
                self.circle(226, 258, 44, colour);
                self.triangle((196, 196), 12, 34, dark);
                self.triangle((256, 196), 12, 34, dark);
                for eye in [210, 242] {
                    self.circle(eye, 250, 9, [252, 250, 230]);
                    self.circle(eye + 2, 251, 4, [20, 20, 20]);
                }
                self.circle(226, 350, 32, mixed(colour, [250, 240, 170], 0.55));
            }
            _ => {
                self.circle(226, 266, 34, [236, 202, 172]);
                self.circle(214, 262, 4, [40, 30, 30]);
                self.circle(238, 262, 4, [40, 30, 30]);
                self.triangle((226, 284), 30, 60, [226, 226, 232]);
                self.triangle((226, 150), 56, 96, colour);
                self.rectangle((166, 242), (120, 10), dark);
                self.rectangle((302, 214), (8, 254), [128, 90, 52]);
                self.circle(306, 208, 13, [120, 220, 240]);
            }
        }
    }
}
