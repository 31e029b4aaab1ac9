//! Pictures that a provider takes no more of.

use epitome_engine::Status;
use epitome_session::{Content, Media, MediaSource, Message, RequestLimits, Session, ToolResult};
use epitome_testkit::session;

use super::support::{compact, engine, request, shown, without_handles};

/// A GIF of 1,000 by 1,000 pixels, and behind its head what tells one picture from the next and makes it longer.
fn picture(number: usize) -> Media {
    let data = format!("R0lGODlh6APoA4AA{}", "A".repeat(1_000 + number));
    Media {
        mime: "image/gif".into(),
        name: Some(format!("{number}.gif").into()),
        source: MediaSource::Base64(data.into()),
        ..Media::default()
    }
}

/// A session whose task has the picture 0, and in which calls show the pictures `shots`.
fn screenshots(shots: &[usize], limits: RequestLimits) -> Session {
    let mut session = session("user: what is wrong here?\nimage\nassistant: I look.");
    let mut task = Message::clone(&session.log()[0]);
    task.blocks[1].content = Content::Media(picture(0));
    session = Session::new();
    session.push(task);
    for (index, number) in shots.iter().enumerate() {
        let step = epitome_testkit::session(&format!("user: x\nassistant: now {index}\ncall shot s{index} {{}}"));
        session.push(Message::clone(&step.log()[1]));
        let result = ToolResult {
            call_id: format!("s{index}").into(),
            name: None,
            text: format!("shot {index}").into(),
            attachments: vec![picture(*number)],
            is_error: false,
        };
        session.push(Message::result("", result));
    }
    session.push(Message::clone(&epitome_testkit::session("user: and now?").log()[0]));
    session.limits = Some(limits);
    session
}

#[test]
fn the_oldest_pictures_leave_until_the_provider_takes_the_rest_and_those_that_come_again_before_them() {
    let any = RequestLimits { bytes: usize::MAX, images: usize::MAX, crowd: None };
    let check = |shots: &[usize], limits: RequestLimits, left: &[usize]| {
        let mut session = screenshots(shots, limits);
        let texts_before = without_handles(&shown(&session));
        let (report, _) = compact(&engine(), &mut session, &request(1_000_000, None));
        let has_picture = |message: &Message| message.blocks.iter().any(|block| !block.content.media().is_empty());
        let shown_here: Vec<bool> = session.view().iter().map(|entry| has_picture(&entry.message)).collect();
        let results =
            session.view().iter().enumerate().filter(|(_, entry)| entry.message.blocks[0].as_result().is_some());
        let gone: Vec<usize> =
            results.map(|(at, _)| shown_here[at]).enumerate().filter(|(_, is)| !is).map(|(shot, _)| shot).collect();
        assert_eq!(gone, left, "{shots:?} {limits:?}");
        assert_eq!(report.status, if left.is_empty() { Status::NoChange } else { Status::Compacted });
        assert_eq!(session.exceeded_limit(), None);
        let text = shown(&session);
        for (shot, number) in shots.iter().enumerate() {
            assert!(text.contains(&format!("shot {shot}")), "the words stay: {text}");
            let is_told = text.contains(&format!("attachment elided: {number}.gif"));
            assert!(!left.contains(&shot) || is_told, "what left is told: {text}");
        }
        if left.is_empty() {
            assert_eq!(without_handles(&text), texts_before);
        }
    };
    check(&[1, 2, 3, 4], any, &[]);
    check(&[1, 2, 3, 4], RequestLimits { images: 5, ..any }, &[]);
    check(&[1, 2, 3, 4], RequestLimits { images: 3, ..any }, &[0, 1]);
    check(&[1, 2, 1, 2, 3], RequestLimits { images: 4, ..any }, &[0, 1]);
    check(&[1, 2, 3, 2, 4], RequestLimits { images: 5, ..any }, &[1]);
    check(&[1, 2, 3, 4], RequestLimits { bytes: 4_000, ..any }, &[0, 1]);
    check(&[1, 2, 3, 4], RequestLimits { crowd: Some((4, 999)), ..any }, &[0]);
    check(&[1, 2, 3, 4], RequestLimits { crowd: Some((4, 1_000)), ..any }, &[]);
}

#[test]
fn the_picture_of_the_task_leaves_last_and_the_words_beside_it_stay() {
    let limits = RequestLimits { bytes: 900, images: 9, crowd: None };
    let mut session = screenshots(&[1, 2], limits);
    compact(&engine(), &mut session, &request(1_000_000, None));
    let task = &session.view()[0].message;
    assert_eq!(session.exceeded_limit(), None, "{}", shown(&session));
    assert_eq!(task.plain_text().lines().next(), Some("what is wrong here?"));
    assert!(task.plain_text().contains("attachment elided: 0.gif"), "{}", task.plain_text());
    assert_eq!(task.blocks[1].typed.as_deref(), Some(&[][..]), "nobody typed the mark");
    session.undo(0).unwrap();
    assert!(session.exceeded_limit().is_some(), "it comes back");
}
