use super::*;

/// A text that looks drawn, of so many characters; made here, so that no scanner takes it for a real key.
fn drawn(length: usize) -> String {
    "aB3dE6gH9jK2mN5pQ8sT1vW4".chars().cycle().take(length).collect()
}

#[test]
fn secrets_leave_and_tell_what_they_were() {
    let check = |text: &str, expect: &str| {
        let redacted = redact(text);
        assert_eq!(redacted, expect, "{text}");
        assert_eq!(redact(&redacted), redacted, "a second time: {text}");
    };
    let (token, upper) = (drawn(36), drawn(16).to_uppercase());
    // forms of providers
    check(&format!("remote: ghp_{token} was used"), "remote: [redacted GitHub token] was used");
    check(&format!("AKIA{upper},"), "[redacted AWS key],");
    check(&format!("(xoxb-{token})"), "([redacted Slack token])");
    check(&format!("OPENAI_API_KEY=sk-proj-{token}"), "OPENAI_API_KEY=[redacted OpenAI key]");
    check(&format!("sk-ant-api03-{token}-AA"), "[redacted Anthropic key]");
    check(
        &format!("//registry.npmjs.org/:_authToken=npm_{token}"),
        "//registry.npmjs.org/:_authToken=[redacted npm token]",
    );
    check(&format!("eyJ{0}.eyJ{0}.{0}", drawn(20)), "[redacted JWT]");
    check(
        "key: |\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nnext",
        "key: |\n[redacted private key]\nnext",
    );
    // addresses and headers
    check("postgres://quay:hJ7-winter@db:5432/quay", "postgres://quay:[redacted password]@db:5432/quay");
    check(&format!("-H 'Authorization: Bearer {token}'"), "-H 'Authorization: Bearer [redacted credentials]'");
    check("Authorization: Basic dXNlcjpwYXNzd29yZA==", "Authorization: Basic [redacted credentials]");
    // beside a name
    check(&format!("DEPLOY_TOKEN={}", drawn(20)), "DEPLOY_TOKEN=[redacted token]");
    check(
        &format!("{{\\\"client_secret\\\": \\\"{}\\\"}}", drawn(20)),
        "{\\\"client_secret\\\": \\\"[redacted secret]\\\"}",
    );
    check("db:\n  password: Tr0ub4dor-3x\n", "db:\n  password: [redacted password]\n");
    check(&format!("run --api-key {} now", drawn(24)), "run --api-key [redacted key] now");
    check(
        &format!("export A_SECRET={0} B_PASSWORD=\"{0}\"", drawn(12)),
        "export A_SECRET=[redacted secret] B_PASSWORD=\"[redacted password]\"",
    );
}

#[test]
fn what_names_something_stays() {
    let check = |text: &str| assert_eq!(redact(text), text);
    let hash = "3f5a9c0e7b1d2846af03c5d7e9b1a2f4c6d8e0ab";
    check(&format!("commit {hash}"));
    check(&format!("sha256: {hash}{}", &hash[..24]));
    check(&format!("integrity sha512-{}==", drawn(86)));
    check("id: 550e8400-e29b-41d4-a716-446655440000");
    check("token: 550e8400-e29b-41d4-a716-446655440000");
    check("max_tokens=4096, tokens: 12345678, token_count = 99887766");
    check("const token = request.headers['x-auth-token'];");
    check("password: string; passwordHash: bcryptHash2");
    check("api_key = os.environ['API_KEY']");
    check("API_TOKEN=${API_TOKEN}");
    check("api_key: your-api-key-here");
    check("token = getAccessToken2(user)");
    check("https://example.org/a:b@c and git@github.com:a/b.git");
    check("postgres://user:password@localhost/db, redis://:${PASS}@h");
    check("task-skeleton sk-fading-circle-container-wrapper");
    check("PWD=/home/dev1/a2b3c4d5e6");
    check("-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----");
    check("密码：不要写在这里");
    check("（token x）（--token （password=“口令”）");
}

#[test]
fn secrets_do_not_overlap() {
    let text = format!("API_TOKEN=ghp_{} PASSWORD=eyJ{1}.eyJ{1}.{1}", drawn(36), drawn(20));
    let found = secrets(&text);
    assert!(found.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start), "{found:?}");
    assert_eq!(found.len(), 2);
}
