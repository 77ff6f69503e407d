import { type Cookie, Elysia, t } from "elysia";
import type { IdentityUseCases } from "../../application/identity/use_cases.ts";
import { Secret } from "../../domain/secret.ts";
import type { Access } from "../access.ts";
import { SESSION_COOKIE } from "../credentials.ts";
import { operation } from "../operation.ts";
import { about, Done, done, EmptyObject, one, Time } from "../schema.ts";
import { invitationPage } from "./invitation_page.ts";
import {
  AcceptBody,
  LoginBody,
  MeView,
  meView,
  PasswordBody,
  ProfileBody,
  UserView,
  userView,
} from "./auth_schemas.ts";

/** Routes for login, logout and the caller's own account. */
export function authRoutes(access: Access, useCases: IdentityUseCases) {
  return new Elysia({ prefix: "/api/auth", tags: ["Identity"] })
    .use(access)
    .use(sessions(access, useCases))
    .use(acceptance(access, useCases))
    .use(self(access, useCases));
}

function sessions(access: Access, useCases: IdentityUseCases) {
  return new Elysia({ name: "http/auth/sessions" })
    .use(access)
    .post(
      "/login",
      async ({ body, caller, cookie }) => {
        const { address: from, requestId } = caller;
        const password = new Secret(body.password);
        const { user, cookie: value, expiresAt } = await useCases.logIn(body.email, password, { from, requestId });
        sessionCookie(cookie)?.set({
          value,
          expires: expiresAt,
          httpOnly: true,
          sameSite: "lax",
          secure: caller.secure,
          path: "/",
        });
        return { success: true, user: userView(user), expiresAt: expiresAt.toISOString() };
      },
      {
        open: "Logging in is how a person gets credentials",
        body: LoginBody,
        ...operation({
          name: "auth.login",
          summary: "Log in with e-mail address and password; sets the session cookie",
          description:
            "Changing requests that use the cookie need the header `Origin` with the URL of this API (`PUBLIC_URL`), as browsers send it. Without it, the response is 403 `foreign_origin`.",
          answer: done({ user: UserView, expiresAt: about("Expiry time of the session", Time) }),
          problems: [401, 403, 429],
          unrepeatable: true,
        }),
      },
    )
    .post(
      "/logout",
      async ({ principal, caller, cookie }) => {
        await useCases.logOut(principal);
        sessionCookie(cookie)?.set({
          value: "",
          maxAge: 0,
          httpOnly: true,
          sameSite: "lax",
          secure: caller.secure,
          path: "/",
        });
        return { success: true };
      },
      {
        permission: "self",
        body: EmptyObject,
        ...operation({ name: "auth.logout", summary: "Log out: end the current session", answer: Done }),
      },
    );
}

function acceptance(access: Access, useCases: IdentityUseCases) {
  return new Elysia({ name: "http/auth/acceptance" })
    .use(access)
    .get("/accept-invitation", () => invitationPage(), {
      open: "An invitation is accepted before there are credentials",
      ...operation({
        name: "auth.invitation_page",
        summary: "Get the page that an invitation link opens",
        answer: { media: "text/html" },
      }),
    })
    .post(
      "/accept-invitation",
      async ({ body: { token, name, password }, caller }) => {
        const given = { token, name, password: new Secret(password) };
        const { address: from, requestId } = caller;
        const { email } = await useCases.acceptInvitation(given, { from, requestId });
        return {
          success: true,
          email,
          message: "You are a member now: log in with your e-mail address and password",
        };
      },
      {
        open: "An invitation is accepted before there are credentials",
        body: AcceptBody,
        ...operation({
          name: "auth.accept_invitation",
          summary: "Accept an invitation by its token and become a member",
          answer: done({
            email: UserView.properties.email,
            message: t.String({ description: "The next step" }),
          }),
          problems: [403, 409, 429],
          callerField: "token",
        }),
      },
    );
}

function self(access: Access, useCases: IdentityUseCases) {
  return new Elysia({ name: "http/auth/self" })
    .use(access)
    .get("/me", async ({ principal }) => ({ data: meView(await useCases.describeCaller(principal)) }), {
      permission: "self",
      ...operation({
        name: "auth.me",
        summary: "Get the caller's identity and permissions",
        answer: one(MeView),
        forLinkTokens: true,
      }),
    })
    .patch(
      "/me",
      async ({ principal, caller, body: { current, ...change } }) => {
        const given = { ...change, ...(current !== undefined && { current: new Secret(current) }) };
        return { data: userView(await useCases.changeProfile(principal, given, caller.address)) };
      },
      {
        permission: "self",
        body: ProfileBody,
        ...operation({
          name: "auth.change_me",
          summary: "Change the caller's name, or its e-mail address with the current password",
          answer: one(UserView),
          problems: [403, 409, 429],
        }),
      },
    )
    .post(
      "/password",
      async ({ principal, caller, body: { password, current } }) => {
        const given = {
          password: new Secret(password),
          ...(current !== undefined && { current: new Secret(current) }),
        };
        await useCases.setPassword(principal, given, caller.address);
        return { success: true };
      },
      {
        permission: "self",
        body: PasswordBody,
        ...operation({
          name: "auth.set_password",
          summary: "Set the caller's password; ends all its other sessions",
          answer: Done,
          problems: [403, 429],
        }),
      },
    );
}

function sessionCookie(jar: Record<string, Cookie<unknown>>) {
  return jar[SESSION_COOKIE];
}
