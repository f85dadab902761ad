//! People who take part in what a goal is about: "with Ben and Ana", "with my sister Anna".

use std::ops::Range;

use super::words::GoalWords;
use crate::calendar_names::{MONTHS, WEEKDAYS};

/// What people are to each other.
const RELATIONS: [&str; 34] = [
    "wife",
    "husband",
    "partner",
    "girlfriend",
    "boyfriend",
    "sister",
    "brother",
    "mother",
    "father",
    "mom",
    "mum",
    "dad",
    "parents",
    "son",
    "daughter",
    "kids",
    "children",
    "friend",
    "friends",
    "cousin",
    "cousins",
    "family",
    "grandma",
    "grandpa",
    "grandparents",
    "aunt",
    "uncle",
    "colleague",
    "colleagues",
    "neighbor",
    "neighbors",
    "boss",
    "roommate",
    "in-laws",
];
const OWNERS: [&str; 4] = ["my", "our", "the", "his"];

/// Finds who takes part, and marks the words as read. A team or a count of people is read elsewhere.
pub(super) fn find_companions(words: &mut GoalWords<'_>) -> Vec<String> {
    let found = (0..words.len()).find_map(|index| companions_at(words, index));
    let Some((names, range)) = found else { return Vec::new() };
    words.mark_used(range);
    names
}

fn companions_at(words: &GoalWords<'_>, index: usize) -> Option<(Vec<String>, Range<usize>)> {
    let lead = words.skip_fillers(index, &["together"]);
    if !words.is_any_of(lead, &["with"]) {
        return None;
    }
    let mut names = Vec::new();
    let mut end = lead + 1;
    loop {
        let next = words.skip_fillers(end, &["and"]);
        let listed = next == end && (end == lead + 1 || words.clause_starts_at(next));
        if names.is_empty() || next > end || listed {
            let Some((name, after)) = person_at(words, next) else { break };
            names.push(name);
            end = after;
            continue;
        }
        break;
    }
    // A verb or a noun after the name makes it something else: "with Ben's car", "with Docker images".
    let ends = words.clause_starts_at(end) || words.is_any_of(end, &AFTER_NAMES);
    (!names.is_empty() && ends).then_some((names, index..end))
}

/// Words that follow the names of people.
const AFTER_NAMES: [&str; 22] = [
    "in", "on", "at", "for", "by", "to", "next", "this", "before", "until", "over", "every",
    "from", "after", "tomorrow", "tonight", "today", "during", "and", "who", "without", "within",
];

/// Parses "Ben", "my sister", "my sister Anna".
fn person_at(words: &GoalWords<'_>, index: usize) -> Option<(String, usize)> {
    let owned = words.skip_fillers(index, &OWNERS);
    let related = words.skip_fillers(owned, &["two", "three", "older", "younger", "best", "old"]);
    if RELATIONS.contains(&words.text_at(related)) {
        let named = is_name(words, related + 1) && !words.clause_starts_at(related + 1);
        let end = related + 1 + usize::from(named);
        return Some((words.typed_text(index..end).to_owned(), end));
    }
    // "Prof. Weber", "Dr Chen": after a title any capital letter begins a name.
    if words.is_any_of(index, &["prof", "professor", "dr", "mr", "mrs", "ms"])
        && words.is_capitalized(index + 1)
    {
        return Some((words.typed_text(index..index + 2).to_owned(), index + 2));
    }
    (owned == index && is_name(words, index))
        .then(|| (words.typed_text(index..index + 1).to_owned(), index + 1))
}

fn is_name(words: &GoalWords<'_>, index: usize) -> bool {
    let text = words.text_at(index);
    let typed = words.typed_text(index..index + 1);
    !text.is_empty()
        && words.is_capitalized(index)
        && typed.chars().count() > 2
        && typed.chars().skip(1).all(char::is_lowercase)
        && FIRST_NAMES.contains(&text)
        && !MONTHS.contains(&text)
        && !WEEKDAYS.contains(&text)
}

/// First names that are common somewhere: a capital letter alone may as well begin a product.
const FIRST_NAMES: [&str; 384] = [
    "adam",
    "adrian",
    "ahmed",
    "aisha",
    "alan",
    "albert",
    "alex",
    "alexander",
    "alexandra",
    "ali",
    "alice",
    "alina",
    "alison",
    "amanda",
    "amelia",
    "amir",
    "amy",
    "ana",
    "andrea",
    "andreas",
    "andrew",
    "andy",
    "angela",
    "anita",
    "anja",
    "ann",
    "anna",
    "anne",
    "annika",
    "anton",
    "antonio",
    "aria",
    "ariel",
    "arjun",
    "arthur",
    "astrid",
    "aya",
    "ayla",
    "barbara",
    "bea",
    "beatrice",
    "ben",
    "benjamin",
    "bernd",
    "beth",
    "bianca",
    "bill",
    "bob",
    "boris",
    "brian",
    "bruno",
    "camila",
    "carl",
    "carla",
    "carlos",
    "carmen",
    "caroline",
    "cathy",
    "cecilia",
    "charles",
    "charlie",
    "charlotte",
    "chloe",
    "chris",
    "christian",
    "christina",
    "claire",
    "clara",
    "claudia",
    "connor",
    "dan",
    "dana",
    "daniel",
    "daniela",
    "dave",
    "david",
    "deepa",
    "denis",
    "dennis",
    "diana",
    "diego",
    "dmitri",
    "dora",
    "dylan",
    "ed",
    "eddie",
    "edith",
    "elena",
    "eli",
    "elias",
    "elif",
    "elijah",
    "elisa",
    "elizabeth",
    "ella",
    "ellen",
    "emil",
    "emilia",
    "emily",
    "emma",
    "eric",
    "erik",
    "erika",
    "esther",
    "ethan",
    "eva",
    "eve",
    "evelyn",
    "fabian",
    "fatima",
    "felix",
    "fiona",
    "florian",
    "frank",
    "franz",
    "fred",
    "freya",
    "gabriel",
    "george",
    "georgia",
    "gina",
    "grace",
    "greg",
    "greta",
    "hana",
    "hannah",
    "hans",
    "harriet",
    "harry",
    "hassan",
    "heather",
    "heidi",
    "helen",
    "helena",
    "henry",
    "hiro",
    "holger",
    "hugo",
    "ian",
    "ibrahim",
    "ida",
    "ines",
    "inga",
    "irene",
    "iris",
    "isabel",
    "isabella",
    "ivan",
    "jack",
    "jacob",
    "jake",
    "jakob",
    "james",
    "jan",
    "jana",
    "jane",
    "janet",
    "jasmine",
    "jason",
    "jay",
    "jean",
    "jen",
    "jennifer",
    "jenny",
    "jeremy",
    "jerry",
    "jess",
    "jessica",
    "jim",
    "joan",
    "joanna",
    "joe",
    "joel",
    "johan",
    "johanna",
    "john",
    "johnny",
    "jonas",
    "jonathan",
    "jordan",
    "jorge",
    "jose",
    "joseph",
    "josh",
    "joshua",
    "juan",
    "judith",
    "julia",
    "julian",
    "julie",
    "juliet",
    "karen",
    "karim",
    "karl",
    "kate",
    "katharina",
    "katie",
    "keith",
    "kelly",
    "ken",
    "kenji",
    "kevin",
    "kim",
    "klaus",
    "kofi",
    "lara",
    "lars",
    "laura",
    "lauren",
    "lea",
    "leah",
    "lena",
    "leo",
    "leon",
    "leonie",
    "liam",
    "lily",
    "linda",
    "lisa",
    "liz",
    "louis",
    "louisa",
    "luca",
    "lucas",
    "lucy",
    "luis",
    "luisa",
    "lukas",
    "luke",
    "maggie",
    "maja",
    "manuel",
    "marco",
    "marcus",
    "maria",
    "marie",
    "mario",
    "marion",
    "marius",
    "mark",
    "marta",
    "martha",
    "martin",
    "mary",
    "mateo",
    "matt",
    "matthew",
    "max",
    "maya",
    "megan",
    "mei",
    "mia",
    "michael",
    "michelle",
    "miguel",
    "mika",
    "mike",
    "mila",
    "milan",
    "miriam",
    "mohamed",
    "molly",
    "monica",
    "nadia",
    "nancy",
    "naomi",
    "natalie",
    "nathan",
    "neil",
    "nick",
    "nicole",
    "nik",
    "nina",
    "noah",
    "noor",
    "nora",
    "olaf",
    "oleg",
    "oliver",
    "olivia",
    "omar",
    "oscar",
    "otto",
    "owen",
    "pablo",
    "pam",
    "paolo",
    "pat",
    "patricia",
    "patrick",
    "paul",
    "paula",
    "pedro",
    "penny",
    "pete",
    "peter",
    "petra",
    "phil",
    "philip",
    "pia",
    "pierre",
    "priya",
    "rachel",
    "rafael",
    "raj",
    "ralf",
    "ravi",
    "rebecca",
    "rita",
    "rob",
    "robert",
    "robin",
    "rosa",
    "rose",
    "ross",
    "ruth",
    "ryan",
    "sabine",
    "sally",
    "sam",
    "samantha",
    "samir",
    "samuel",
    "sandra",
    "sara",
    "sarah",
    "sasha",
    "scott",
    "sean",
    "sebastian",
    "simon",
    "simone",
    "sina",
    "sofia",
    "sonja",
    "sophia",
    "sophie",
    "stefan",
    "stella",
    "stephanie",
    "stephen",
    "steve",
    "steven",
    "sue",
    "susan",
    "susanne",
    "sven",
    "sylvia",
    "tanja",
    "tara",
    "ted",
    "teresa",
    "theo",
    "theresa",
    "thomas",
    "tim",
    "tina",
    "tobias",
    "toby",
    "tom",
    "tomas",
    "tony",
    "tyler",
    "ulrike",
    "ursula",
    "valentina",
    "vera",
    "verena",
    "vic",
    "victor",
    "victoria",
    "viktor",
    "vincent",
    "walter",
    "wei",
    "wendy",
    "william",
    "xavier",
    "yara",
    "yuki",
    "yusuf",
    "yvonne",
    "zach",
    "zoe",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<String> {
        find_companions(&mut GoalWords::new(text))
    }

    #[test]
    fn people_are_read_by_name_and_by_relation() {
        assert_eq!(read("go hiking with Ben and Ana next weekend"), ["Ben", "Ana"]);
        assert_eq!(read("plan a concert with my sister Anna and Ben"), ["my sister Anna", "Ben"]);
        assert_eq!(read("a week in Rome with my parents"), ["my parents"]);
        assert_eq!(read("start a band with Tom, Lea and Max"), ["Tom", "Lea", "Max"]);
    }

    #[test]
    fn tools_and_things_are_no_people() {
        for goal in [
            "build an app with Flutter",
            "set up CI with Jenkins and Docker",
            "a house with a garden",
        ] {
            assert_eq!(read(goal), [""; 0], "{goal}");
        }
    }
}
