//! Agents and channels.

use epitome_session::Session;
use epitome_store::{Agent, Channel, KeyReference, SessionArchive, SessionMetadata, Store, StoreError, Tenant};
use serde_json::{Value, json};

pub(crate) async fn a_service_key_is_made_once(store: Store) {
    assert_eq!(store.service_key("items", "the first").await.unwrap(), "the first");
    assert_eq!(store.service_key("items", "another").await.unwrap(), "the first", "whoever asks later gets the same");
    assert_eq!(store.service_key("others", "another").await.unwrap(), "another");
}

pub(crate) async fn agents_and_channels_are_kept_without_secrets(store: Store) {
    let tenant = Tenant::default();
    let agent = |name: &str, settings: Value| Agent { name: name.to_owned(), settings };
    store.put_agent(&tenant, &agent("b", json!({"threshold": 80}))).await.unwrap();
    store.put_agent(&tenant, &agent("a", json!({"keep": [1, 2.5, null, "三"]}))).await.unwrap();
    store.put_agent(&tenant, &agent("b", json!({"threshold": 75}))).await.unwrap();
    let expected = [agent("a", json!({"keep": [1, 2.5, null, "三"]})), agent("b", json!({"threshold": 75}))];
    assert_eq!(store.agents(&tenant).await.unwrap(), expected);
    assert_eq!(store.agent(&tenant, "b").await.unwrap().as_ref(), Some(&expected[1]));
    assert_eq!(store.agent(&tenant, "B").await.unwrap(), None);
    assert_eq!(store.agent(&Tenant::new("other").unwrap(), "b").await.unwrap(), None);
    assert!(store.delete_agent(&tenant, "a").await.unwrap());
    assert!(!store.delete_agent(&tenant, "a").await.unwrap());
    assert_eq!(store.agents(&tenant).await.unwrap(), expected[1..]);

    let channel = |name: &str, key: Option<KeyReference>| Channel {
        name: name.to_owned(),
        settings: json!({"base_url": "https://host/v1", "auxiliary": true}),
        key,
    };
    let good = [
        channel("1", None),
        channel("2", Some(KeyReference::Environment("MAIN_KEY".to_owned()))),
        channel("3", Some(KeyReference::File("/run/secrets/main".into()))),
    ];
    for channel in &good {
        store.put_channel(&tenant, channel).await.unwrap();
    }
    assert_eq!(store.channels(&tenant).await.unwrap(), good);
    for channel in &good {
        assert_eq!(store.channel(&tenant, &channel.name).await.unwrap().as_ref(), Some(channel));
    }
    assert_eq!(store.channel(&tenant, "4").await.unwrap(), None);
    assert_eq!(store.channel(&Tenant::new("other").unwrap(), "1").await.unwrap(), None);
    let mut bad = vec![
        channel("4", Some(KeyReference::Environment("hush-hush".to_owned()))),
        channel("4", Some(KeyReference::File("hush-hush".into()))),
        channel("2", None),
    ];
    bad[2].settings = json!({"headers": {"authorization": "hush-hush"}});
    for channel in &bad {
        let refused = store.put_channel(&tenant, channel).await.unwrap_err();
        assert!(matches!(refused, StoreError::Secret { .. }), "{refused:?}");
        assert!(!format!("{refused} {refused:?}").contains("hush"), "{refused:?}");
    }
    assert!(store.put_agent(&tenant, &agent("c", json!({"api_key": "hush-hush"}))).await.is_err());
    let about = SessionMetadata { settings: json!({"token": "hush-hush"}), ..SessionMetadata::default() };
    let created = store.create_session(&tenant, "s", &about, &Session::new(), &mut SessionArchive::new()).await;
    assert!(matches!(created, Err(StoreError::Secret { .. })), "{created:?}");
    assert_eq!(store.channels(&tenant).await.unwrap(), good, "what was refused changed nothing");
    store.put_channel(&tenant, &channel("3", None)).await.unwrap();
    assert_eq!(store.channels(&tenant).await.unwrap()[2].key, None, "another key takes the place of the first");
    assert!(store.delete_channel(&tenant, "3").await.unwrap());
    assert_eq!(store.channels(&tenant).await.unwrap().len(), 2);

    for (id, settings) in [
        ("1", json!({"window": 9, "channel": "the \"third\""})),
        ("2", json!({"chain": "\"channel\":\"within\"", "channel": "1"})),
        ("3", Value::Null),
    ] {
        let about = SessionMetadata { settings, ..SessionMetadata::default() };
        store.create_session(&tenant, id, &about, &Session::new(), &mut SessionArchive::new()).await.unwrap();
    }
    for (name, expect) in
        [("the \"third\"", Some("1")), ("1", Some("2")), ("within", None), ("The \"third\"", None), ("3", None)]
    {
        assert_eq!(store.session_with_channel(&tenant, name).await.unwrap().as_deref(), expect, "{name}");
        assert_eq!(store.session_with_channel(&Tenant::new("other").unwrap(), name).await.unwrap(), None);
    }

    let health = store.health().await.unwrap();
    assert!(health.schema >= 1 && ["sqlite", "postgres"].contains(&health.backend), "{health:?}");
}
