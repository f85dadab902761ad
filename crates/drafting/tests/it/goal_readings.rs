//! What is read of goals in many tones, and what is listed as not read.

use jiff::civil::{Date, date};

use planwright_drafting::goal_reading::read_goal;
use planwright_drafting::offline::goal::{Goal, GoalParseContext};

/// A Tuesday.
const TODAY: Date = date(2026, 11, 17);

/// A goal, what is read of it, what is not, and its subject.
type ReadingRow<'a> = (&'a str, &'a [&'a str], &'a [&'a str], &'a str);

#[track_caller]
fn check(rows: &[ReadingRow<'_>]) {
    let mut wrong = Vec::new();
    for (text, read, left, subject) in rows {
        let found = read_goal(text, TODAY);
        let goal = Goal::parse(text, GoalParseContext::new(TODAY, 5));
        // What stands in a step or only in the goal; either way rules check nothing of it.
        let unread: Vec<&String> = found.noted.iter().chain(&found.not_read).collect();
        if found.read != *read || unread != *left || goal.subject.definite != *subject {
            wrong
                .push(format!("{text}\n  {:?} {unread:?} {:?}", found.read, goal.subject.definite));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn days_and_parts_of_days_are_read() {
    check(&[
        ("do the laundry today", &["today"], &[], "the laundry"),
        ("get cinema tickets for tonight", &["today, in the evening"], &[], "cinema tickets"),
        (
            "repair my bike's flat tire this evening",
            &["today, in the evening"],
            &[],
            "the bike's flat tire",
        ),
        ("clean the windows on Saturday", &["on Sat 21 Nov"], &[], "the windows"),
        ("fix the login bug by Friday next week", &["until Fri 27 Nov"], &[], "the login bug"),
        ("clean up the garden this weekend", &["Sat 21 – Sun 22 Nov"], &[], "the garden"),
        ("throw a New Year's Eve party", &["on Thu 31 Dec"], &[], "the New Year's Eve party"),
        ("throw a New Year’s Eve party", &["on Thu 31 Dec"], &[], "the New Year’s Eve party"),
        ("buy Christmas presents", &["until Thu 24 Dec"], &[], "Christmas presents"),
        (
            "plan the company Christmas party",
            &["Mon 7 – Tue 22 Dec"],
            &[],
            "the company Christmas party",
        ),
    ]);
}

#[test]
fn months_and_seasons_to_come_are_read() {
    check(&[
        (
            "my sister is getting married next September",
            &["in September 2027"],
            &[],
            "getting married",
        ),
        (
            "find investors for our startup, we need 800k by next autumn",
            &["until Tue 31 Aug 2027", "800,000"],
            &[],
            "investors for our startup",
        ),
        (
            "relocate to Canada next summer",
            &["Tue 1 Jun – Tue 31 Aug 2027", "Canada"],
            &[],
            "relocate",
        ),
    ]);
}

#[test]
fn of_two_dates_the_one_of_the_whole_counts() {
    check(&[
        (
            "I have my driving test theory next month, want the license by summer",
            &["until Mon 31 May 2027"],
            &["next month"],
            "the driving test theory",
        ),
        (
            "draft my paper by March, submitted by 15 May",
            &["until Sat 15 May 2027"],
            &["by March"],
            "the paper",
        ),
        ("wedding on 2027-09-04, venue by July", &["on Sat 4 Sep 2027"], &["by July"], "wedding"),
        (
            "hand over my projects before parental leave on 2027-02-01",
            &["until Sun 31 Jan 2027"],
            &[],
            "the projects",
        ),
    ]);
}

#[test]
fn lengths_that_are_not_the_plans_are_told_apart() {
    check(&[
        (
            "kids party for my 6 year old in two weeks",
            &["2 weeks, until Tue 1 Dec"],
            &[],
            "kids party for my 6 year old",
        ),
        (
            "go to Japan for three weeks in April",
            &["3 weeks in April 2027", "Japan"],
            &[],
            "go to Japan for three weeks in April",
        ),
        (
            "start a career in UX after 10 years as a nurse",
            &[],
            &["after 10 years as a nurse"],
            "the career in UX",
        ),
        ("sleep 8 hours", &[], &[], "sleep 8 hours"),
    ]);
}

#[test]
fn rhythms_are_told_from_descriptions() {
    check(&[
        ("our test suite fails every third run", &[], &["every third run"], "the test suite fails"),
        (
            "server is at 100% CPU every night, find out why",
            &[],
            &["is at 100", "CPU every night"],
            "server",
        ),
        ("learn 10 Spanish words a day", &["10 Spanish words every day"], &[], "10 Spanish words"),
        (
            "run two-week sprints with a team of 6",
            &["every 2 weeks", "6 people in the team"],
            &[],
            "sprints",
        ),
        ("retro every second Friday", &["every 2 weeks on Friday"], &[], "retro"),
        ("meditate 10 minutes a day", &["10 min a day"], &[], "meditate"),
        ("take out the trash every Tuesday", &["every week on Tuesday"], &[], "the trash"),
        (
            "learn sign language, an hour every Sunday",
            &["every week on Sunday", "1 h each time"],
            &[],
            "sign language",
        ),
    ]);
}

#[test]
fn amounts_and_directions_are_read() {
    check(&[
        (
            "cut our AWS spend by 30%, currently 12k a month",
            &["12,000 a month", "by 30%"],
            &[],
            "the AWS spend",
        ),
        (
            "find a new flat in Berlin, budget 1500 a month",
            &["Berlin", "budget 1,500 a month"],
            &[],
            "the new flat",
        ),
        (
            "run a half marathon in April, I can run 8 km now",
            &["in April 2027"],
            &["I can run 8 km now"],
            "the half marathon",
        ),
        (
            "build a deck by June, 20 square meters",
            &["until Tue 1 Jun 2027", "20 square meters"],
            &[],
            "the deck",
        ),
        ("introduce a new CRM, 40 sales people", &["40 people"], &[], "the new CRM"),
        ("replace Jira with Linear", &["from Jira to Linear"], &[], "Jira"),
        ("take the kids to Disneyland in May", &["in May 2027", "Disneyland"], &[], "the kids"),
        ("put up a shelf", &[], &[], "the shelf"),
        ("proofread the contract by tomorrow", &["until Wed 18 Nov"], &[], "the contract"),
    ]);
}

#[test]
fn typos_and_loose_tones_are_read() {
    check(&[
        (
            "pls help me organise my nans 80th birthday, its on the 5th of december, around 30 ppl, budget £400",
            &["on Sat 5 Dec", "30 people", "budget £400"],
            &[],
            "the nans 80th birthday",
        ),
        (
            "I've been a teacher for 12 years and want to become a software developer within 18 months",
            &["78 weeks, until Tue 16 May 2028"],
            &[],
            "I've been a teacher for 12 years and want to become a…",
        ),
        (
            "birthday dinner for two, Friday 8pm",
            &["on Fri 20 Nov", "at 20:00", "2 people"],
            &[],
            "birthday dinner",
        ),
        (
            "switch from iPhone to Android this weekend",
            &["Sat 21 – Sun 22 Nov", "from iPhone to Android"],
            &[],
            "switch",
        ),
        (
            "write a 2000-word essay on climate policy (due 4 December, draft to tutor by 27 November)",
            &["until Fri 4 Dec", "2,000 words"],
            &["draft to tutor", "by 27 November"],
            "the 2000-word essay on climate policy",
        ),
    ]);
}

#[test]
fn numbers_with_separators_and_people_without_a_noun_are_read() {
    check(&[
        ("translate a 45,000-word manual", &["45,000 words"], &[], "the 45,000-word manual"),
        (
            "scan 1,200 letters of my grandfather",
            &["1,200 letters"],
            &[],
            "1,200 letters of my grandfather",
        ),
        ("brunch for 9 on Sunday", &["on Sun 22 Nov", "9 people"], &[], "brunch"),
        ("barbecue for 25 next Saturday", &["on Sat 21 Nov", "25 people"], &[], "barbecue"),
        ("build a garden shed, 12k", &["12,000"], &[], "the garden shed"),
        ("our bathroom refit, 18k", &["18,000"], &[], "the bathroom refit"),
    ]);
}

#[test]
fn windows_starts_and_times_of_a_day_are_read() {
    check(&[
        (
            "build a treehouse over the summer",
            &["Tue 1 Jun – Tue 31 Aug 2027"],
            &[],
            "the treehouse",
        ),
        (
            "repaint the shutters in the first week of May",
            &["Sat 1 – Fri 7 May 2027"],
            &[],
            "repaint the shutters",
        ),
        ("learn to sew from February", &["starts Mon 1 Feb 2027"], &[], "sew"),
        ("choir practice Tue & Thu", &["every week on Tuesday, Thursday"], &[], "choir practice"),
        ("submit the tender by 3 pm", &["until today 15:00"], &[], "the tender"),
        ("hand in the essay on Friday before 12:30", &["on Fri 20 Nov"], &[], "the essay"),
        ("play chess well by Easter 2028", &["until Sun 16 Apr 2028"], &[], "chess well"),
        (
            "sailing course from 9 to 11 April",
            &["3 days Fri 9 – Sun 11 Apr 2027"],
            &[],
            "sailing course",
        ),
    ]);
}

#[test]
fn what_counts_from_an_unknown_day_or_limits_something_else_is_not_read() {
    check(&[
        (
            "be back at work three months after the birth",
            &[],
            &["three months after the birth"],
            "back at work",
        ),
        (
            "upgrade the mail server with under 10 minutes of outage",
            &[],
            &["with under 10 minutes of outage"],
            "the mail server",
        ),
    ]);
}

#[test]
fn dates_of_other_languages_are_read() {
    for (text, read) in [
        ("Garten umgraben bis 3. März", "until Wed 3 Mar 2027"),
        ("examen el 15 de abril", "on Thu 15 Apr 2027"),
        ("déménagement jusqu'au 30 juin", "until Wed 30 Jun 2027"),
        ("2027年3月5日に試験", "on Fri 5 Mar 2027"),
        ("Hochzeit am 5.6.", "on Sat 5 Jun 2027"),
    ] {
        let found = read_goal(text, TODAY);
        assert!(found.read.contains(&read.to_owned()), "{text}: {found:?}");
    }
}

#[test]
fn people_and_places_are_read() {
    check(&[
        (
            "cycle through Tuscany with my brother in May",
            &["in May 2027", "Tuscany", "with my brother"],
            &[],
            "cycle",
        ),
        (
            "a cooking evening with Nina and Omar on Friday",
            &["on Fri 20 Nov", "with Nina and Omar"],
            &[],
            "the cooking evening",
        ),
        ("5 days in the Dolomites", &["5 days", "the Dolomites"], &[], "5 days in the Dolomites"),
    ]);
}

#[test]
fn groups_sessions_and_closing_days_are_read() {
    for (text, phrase) in [
        ("cross the Alps by bike in July, two of us", "2 people"),
        ("introduce OKRs in our department of 30", "30 people in the department"),
        ("make a short film over the Easter weekend", "Fri 26 – Mon 29 Mar 2027"),
        ("build a treehouse in the summer holidays", "Tue 1 Jun – Tue 31 Aug 2027"),
        ("enter the photo contest, entries close December 11", "until Fri 11 Dec"),
        ("get fit with three runs a week", "3 times a week on Monday, Wednesday, Friday"),
    ] {
        let found = read_goal(text, TODAY);
        assert!(found.read.iter().any(|read| read == phrase), "{text}: {:?}", found.read);
    }
}
