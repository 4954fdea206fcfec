//! The bodies of OpenAI's chat API: requests and responses.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::judges::answer::{Answer, Token, start};
use crate::judges::judge::{Judge, Role};
use crate::judges::template::MessagePart;

/// The number of most probable tokens to request, which is the most that servers return.
const TOP: u32 = 20;

/// The body of a request; `picture` is the address of the question's picture, with its data.
pub fn body(
    judge: &Judge,
    model: &str,
    messages: &[(Role, Vec<MessagePart>)],
    picture: Option<&str>,
) -> Value {
    let part = |filled: &MessagePart| match filled {
        MessagePart::Text(text) => json!({"type": "text", "text": text}),
        MessagePart::Image => json!({"type": "image_url", "image_url": {"url": picture}}),
    };
    let content = |parts: &[MessagePart]| match parts {
        [MessagePart::Text(text)] => json!(text),
        parts => parts.iter().map(part).collect(),
    };
    let messages: Vec<Value> =
        messages.iter().map(|(role, parts)| json!({"role": role, "content": content(parts)})).collect();
    let mut body = json!({"model": model, "messages": messages});
    if let Some(body) = body.as_object_mut() {
        body.extend(judge.parameters.clone());
        if judge.form.needs_probabilities() {
            body.insert("logprobs".to_owned(), json!(true));
            body.insert("top_logprobs".to_owned(), json!(TOP));
        }
        if let Some(schema) = judge.form.schema() {
            let named = json!({"name": "answer", "strict": true, "schema": schema});
            body.insert("response_format".to_owned(), json!({"type": "json_schema", "json_schema": named}));
        }
    }
    body
}

/// The response of a server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Response {
    pub answer: Answer,
    /// The server's name for the model.
    pub model: Option<String>,
    /// The reason for the end of the answer, in the words of the API: `stop`, `length`.
    pub finish: Option<String>,
    /// The tokens of question and answer, if it counts them.
    pub tokens: Option<[u64; 2]>,
}

#[derive(Deserialize)]
struct ResponseBody {
    model: Option<String>,
    choices: Vec<Choice>,
    #[serde(default, deserialize_with = "lenient")]
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
    finish_reason: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    logprobs: Option<Logprobs>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    content: Value,
    #[serde(default)]
    refusal: Value,
}

#[derive(Deserialize)]
struct Usage {
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
}

#[derive(Deserialize)]
struct Logprobs {
    content: Vec<Place>,
}

#[derive(Deserialize)]
struct Place {
    token: String,
    #[serde(default)]
    top_logprobs: Vec<Top>,
}

#[derive(Deserialize)]
struct Top {
    token: String,
    logprob: f64,
}

/// Ignores a value that a server writes in another form.
fn lenient<'de, D: serde::Deserializer<'de>, T: serde::de::DeserializeOwned>(
    reader: D,
) -> Result<Option<T>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(reader)?).ok())
}

/// Reads the body of a response.
pub fn response(body: &str) -> Result<Response, String> {
    let written: ResponseBody = serde_json::from_str(body)
        .map_err(|error| format!("the answer is not one of the chat API ({error}): {}", start(body)))?;
    let ResponseBody { model, choices, usage } = written;
    let Some(Choice { message, finish_reason, logprobs }) = choices.into_iter().next() else {
        return Err(format!("the answer has no choices: {}", start(body)));
    };
    let text = text(&message.content).or_else(|| text(&message.refusal)).unwrap_or_default();
    let places = logprobs.map(|logprobs| logprobs.content).unwrap_or_default();
    let token = |Place { token, top_logprobs }| Token {
        token,
        top: top_logprobs.into_iter().map(|Top { token, logprob }| (token, logprob)).collect(),
    };
    Ok(Response {
        answer: Answer { text, tokens: places.into_iter().map(token).collect() },
        model,
        finish: finish_reason,
        tokens: usage.map(|usage| [usage.prompt_tokens, usage.completion_tokens]),
    })
}

/// The text of a message: a string, or parts of which some are text.
fn text(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => Some(parts.iter().filter_map(|part| part.get("text")?.as_str()).collect()),
        _ => None,
    }
}

/// The server's own message about an error, and its code.
pub fn complaint(body: &str) -> (String, Option<String>) {
    let json: Value = serde_json::from_str(body).unwrap_or_default();
    let error = json.get("error").unwrap_or(&json);
    let words =
        [error, &error["message"], &json["message"], &json["detail"]].into_iter().find_map(Value::as_str);
    let code = [&error["code"], &error["type"]].into_iter().find_map(Value::as_str);
    (start(words.unwrap_or(body)), code.map(str::to_owned))
}
