//! Conditions as people write them, and wrong ones.

use proptest::prelude::*;

use super::*;

fn value(reference: &ConditionReference) -> Option<PlanValue> {
    let ConditionReference::Task { task, fact } = reference else { return None };
    match (task.as_str(), fact) {
        ("build", TaskFact::ExitCode) => Some(PlanValue::Integer(0)),
        ("build", TaskFact::Status) => Some(PlanValue::Text("done".into())),
        ("test[linux,3.12]", TaskFact::Output(name)) if name == "path" => {
            Some(PlanValue::Text("a b".into()))
        }
        _ => None,
    }
}

#[test]
fn conditions_are_read_with_the_usual_precedence_and_evaluated() {
    for (text, expected) in [
        ("true", true),
        ("not true", false),
        ("tasks.build.exit_code == 0", true),
        ("tasks.build.status != 'done'", false),
        ("tasks.test[linux,3.12].outputs.path == \"a b\"", true),
        ("false and false or true", true),
        ("false and (false or true)", false),
        ("not false and 1 == 1", true),
        ("'it\\'s' == \"it's\"", true),
        ("tasks.gone.outputs.x == ''", false),
        ("tasks.gone.outputs.x != ''", true),
    ] {
        let condition = RunExpression::parse(text).unwrap();
        condition.check_types().unwrap();
        assert_eq!(condition.is_met(&value), expected, "{text}");
        let again = RunExpression::parse(&condition.to_string()).unwrap();
        assert_eq!(again, condition, "{condition}");
    }
}

#[test]
fn mistakes_are_named_with_their_position() {
    for (text, message, at) in [
        ("", "ends where a value is expected", 0),
        ("tasks.build.exit_code = 0", "does not know the operator `=`", 22),
        ("1 == 1 2", "does not expect `2` there", 7),
        ("(1 == 1", "lacks `)`", 7),
        ("steps.x == 1", "does not know `steps.x`", 0),
        ("'abc", "has text without its end", 0),
        ("== 1", "expects a value in place of `==`", 0),
    ] {
        let error = RunExpression::parse(text).unwrap_err();
        assert_eq!((error.message.as_str(), error.at), (message, at), "{text}");
    }
    assert!(RunExpression::parse(&"(".repeat(1000)).is_err());
    assert!(RunExpression::parse(&"not ".repeat(400)).is_err());
    for (text, message) in [
        ("1", "is a whole number, not true or false"),
        ("1 == '1'", "compares a whole number with text"),
        ("not 1", "negates a whole number"),
        ("true and 'x'", "combines text with `and` or `or`"),
        ("params.x == 1", "refers to `params.x`, which has no value"),
    ] {
        let condition = RunExpression::parse(text).unwrap();
        assert_eq!(condition.check_types().unwrap_err(), message, "{text}");
    }
}

#[test]
fn stated_values_are_replaced_and_written_so_that_they_read_back() {
    let mut condition = RunExpression::parse("params.v == vars.x").unwrap();
    condition.replace_stated(|_| Ok::<_, ()>(PlanValue::Text("a'b\\".into()))).unwrap();
    assert_eq!(condition.to_string(), "'a\\'b\\\\' == 'a\\'b\\\\'");
    assert!(RunExpression::parse(&condition.to_string()).unwrap().is_met(&value));
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "[()'\"=! a-z0-9.\\\\]{0,60}") {
        if let Ok(condition) = RunExpression::parse(&text) {
            let again = RunExpression::parse(&condition.to_string()).unwrap();
            prop_assert_eq!(again, condition);
        }
    }
}
