// Keys, requests and certificates that Go's crypto/x509 made, to compare with byte by byte.
#pragma once

#include <string_view>

namespace liqo::core::fixtures {

// Ed25519 from 32 bytes of 7
inline constexpr std::string_view private_key = R"(-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIAcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH
-----END PRIVATE KEY-----
)";

inline constexpr std::string_view public_key = R"(-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEA6kpsY+KcUgq+9VB7Ey7F+ZVHdq6+vnuSQh7qaRRG0iw=
-----END PUBLIC KEY-----
)";

// CN=tenant-a, O=liqo.io
inline constexpr std::string_view tenant_a_csr = R"(-----BEGIN CERTIFICATE REQUEST-----
MIGkMFgCAQAwJTEQMA4GA1UEChMHbGlxby5pbzERMA8GA1UEAxMIdGVuYW50LWEw
KjAFBgMrZXADIQDqSmxj4pxSCr71UHsTLsX5lUd2rr6+e5JCHuppFEbSLKAAMAUG
AytlcANBAPuHPr+hZ5RpVkavmlZK0XFTMo/fCTf+l/8WJMGI4MduejJaEuivViBd
4EU+QkCT36LQRu9uaok25VO9kHUsDw4=
-----END CERTIFICATE REQUEST-----
)";

// CN=mypool-573ffa690333, O=cl-consumer
inline constexpr std::string_view slice_csr = R"(-----BEGIN CERTIFICATE REQUEST-----
MIGzMGcCAQAwNDEUMBIGA1UEChMLY2wtY29uc3VtZXIxHDAaBgNVBAMTE215cG9v
bC01NzNmZmE2OTAzMzMwKjAFBgMrZXADIQDqSmxj4pxSCr71UHsTLsX5lUd2rr6+
e5JCHuppFEbSLKAAMAUGAytlcANBADgaCwr2IPtgVyt3mpV2dSEH8/spMjOnHoaE
oDk4mkGgHSkFoV+ka9iQ3/eNMkIEcfKvQnnYQvrMD7TcFaQ8uQs=
-----END CERTIFICATE REQUEST-----
)";

// CN="a_b*&@" and 150 times "x", O=liqo.io
inline constexpr std::string_view long_csr = R"(-----BEGIN CERTIFICATE REQUEST-----
MIIBPTCB8AIBADCBvDEQMA4GA1UEChMHbGlxby5pbzGBpzCBpAYDVQQDDIGcYV9i
KiZAeHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4
eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4
eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4
eHh4eHh4eHh4MCowBQYDK2VwAyEA6kpsY+KcUgq+9VB7Ey7F+ZVHdq6+vnuSQh7q
aRRG0iygADAFBgMrZXADQQDIuEM7wZQZryG4+Oe0Z4oBljAghA7j+lzyhFM+gZ8p
IMpj3RlaV0z4VtiXv+aDXl9k+xT4vj0JG6poRDIHxDMJ
-----END CERTIFICATE REQUEST-----
)";

// CN=tenant-a, O=liqo.io and O=tenant-b
inline constexpr std::string_view two_organizations_csr = R"(-----BEGIN CERTIFICATE REQUEST-----
MIG1MGkCAQAwNjEhMA4GA1UEChMHbGlxby5pbzAPBgNVBAoTCHRlbmFudC1iMREw
DwYDVQQDEwh0ZW5hbnQtYTAqMAUGAytlcAMhAOpKbGPinFIKvvVQexMuxfmVR3au
vr57kkIe6mkURtIsoAAwBQYDK2VwA0EAFduXMZUwAMrZUoLZIYkMyltLismnf9Yd
GBtGH+ZRiloMyCl416pA4EJvQbrISBwqLjOekXHbBsUiDwDlmakwCQ==
-----END CERTIFICATE REQUEST-----
)";

// tenant-a with the alternative name "kubernetes"
inline constexpr std::string_view alternative_name_csr = R"(-----BEGIN CERTIFICATE REQUEST-----
MIHNMIGAAgEAMCUxEDAOBgNVBAoTB2xpcW8uaW8xETAPBgNVBAMTCHRlbmFudC1h
MCowBQYDK2VwAyEA6kpsY+KcUgq+9VB7Ey7F+ZVHdq6+vnuSQh7qaRRG0iygKDAm
BgkqhkiG9w0BCQ4xGTAXMBUGA1UdEQQOMAyCCmt1YmVybmV0ZXMwBQYDK2VwA0EA
DWVWmyLWPi6MpQKssS9g0lIY/ds29BRlG0R7kcOIHgYHHXAqZI4K/XRPSjJvZKdo
bmJeimK6ty2bW53CiiqpBA==
-----END CERTIFICATE REQUEST-----
)";

// tenant-a with an organizational unit
inline constexpr std::string_view unit_csr = R"(-----BEGIN CERTIFICATE REQUEST-----
MIGwMGQCAQAwMTEQMA4GA1UEChMHbGlxby5pbzEKMAgGA1UECxMBeDERMA8GA1UE
AxMIdGVuYW50LWEwKjAFBgMrZXADIQDqSmxj4pxSCr71UHsTLsX5lUd2rr6+e5JC
HuppFEbSLKAAMAUGAytlcANBAD0njgGyldy5/9qNLgJ8EaNVTtRKwtilQMf/afM2
aOQWVGpy+e7BuN0Lf8+b5QVY6TuZn52Qp/+dr3qzD+Zy7gE=
-----END CERTIFICATE REQUEST-----
)";

inline constexpr std::string_view rsa_private_key = R"(-----BEGIN PRIVATE KEY-----
MIIEvAIBADANBgkqhkiG9w0BAQEFAASCBKYwggSiAgEAAoIBAQDXycwtLnb6/fPN
OOns5C2NjiLtS8sTu3Taio6XVCppBMG8T8XVx37MiIrXJaQYNI8Da1gxwp+KLb+o
Wo+A+FA22zXYvT4FyEz0lsN+EhNlJ06N+ngCEcmS+lzOFhGvNlbhbui7l1doy6E3
bYnqpxCUq/3hTEq/FdAxcIECLa5q0ONOpsIgvSOc4DuU6Kfce86GlwWfuMX9R6y7
jKlBy4C8W92whgU1EeiBvfNzWm2ftopuwwRkuv1wgCGjNyXm8gP9wwRwPqqLVZUW
D9q2GR6UCavwC+wi4DO3wPBrRZeOYxFuZ7FAaMc09k7UhN/HbB05NHKjBXDwrkdx
mMXsNzCxAgMBAAECggEAKKtqHabY+lekHEzqe8EKm9gK2aX0DZFCRhEgrEFK5/Wj
TOpNC0xY59QhNMjtmzlGrfqMif5YIssaCPEehExok9ovVRzfpGfapyuGB0wBV0p3
+fbXqO4wy1B/7sCGjzsC12SXnQl6SjA8v41X1b+sdpTO2ehO2yJRlYvSaLZy3cMN
wNAGSHYwwQNvpLhn9uLMC0hBmNARbVRatukd7Q0EZMLuR1gZyMn/PvxUComdzXlm
/Qr9+31LZKFq0RnmoEdWBnnCiRVLp3t9DhvmuSVv0nGBS0x0BKhZZEafEy5v6x8z
0QxGhI8izqd+HKb4P3iIGpDHAmuf7fiIGc64jaJ2JQKBgQDw8k5NOj9knLg1vxoD
/aQi1rEpBwsHU3NmssGrw9Y/GbJjoj7i0TH0KQsYkzVwCLcWPmoH2k3rEYt3+p4s
OEvfN1BIv5F1dcxWXzWNvFihUb6LagNeWRnIvpk50kedaWP+ehUEfr6ZtvrtaN5+
6XEOUjVvBKtcdg4PXZu2Ms7dLQKBgQDlRRyABSEyGjMWTcRjKzeCHAdQz0xSxash
xjRTy8Y1v6FGEdsGnq2wQI/ZObfaDwmZlFBSlEE1QQbB6Es3ve9gjriO5QHwnaez
Zgc2OQzmnFhy5a2KTyNV+GIApQiWMBpYZW1NCv/1m/yZDP5TQwiwZqdviKOJDfTA
wfxBiVq8FQKBgF+RG/GRqtczOfVHaQAwOEwBL5+ARaWQOfN/70U7ldzNSm4uShcY
tmGLbfU/XjCjpErUUqXutn0IJnNeGiKb6awNenCAWydlo7iWZt1i2RyTGaqeT9u6
J3nx70B54SHUTW7/6RoxU1QQuZI0yBs6aDcv8DWqenVf9c+uZzZrDJW5AoGASY5M
wH3k0pA5R7SXh0F8Q4/+gNyhHgUxDFrsut2rr97VPQfJf2w1SVDNVeIArEMaz10Y
EAZkjVNZeaivSSj0vcPMTnwGjU3nWdUoBytyiiIq9mHdtXwCWDiiKJbKFHVGXonb
8VXQHNp4xhm3Frtw9DdbDJuH7BbAKX+TEOuiYqkCgYBlGGIhQrdyoZbELudGAhYm
AOT5UaJVg4ReFWKuHFIJI01MRgAnMys9LArBlZZ/IJHlJxQvzyciuuFDt86muAMi
3Jee0ztaCMLl54byZv4S2kjHCxtFbjRZwjLPE7XP22QR7GoJaIjdDCzXKARPdPiT
mp7xPbiPwWcNJx+7dORsnQ==
-----END PRIVATE KEY-----
)";

// CN=tenant-a, O=liqo.io
inline constexpr std::string_view rsa_csr = R"(-----BEGIN CERTIFICATE REQUEST-----
MIICajCCAVICAQAwJTEQMA4GA1UEChMHbGlxby5pbzERMA8GA1UEAxMIdGVuYW50
LWEwggEiMA0GCSqGSIb3DQEBAQUAA4IBDwAwggEKAoIBAQDXycwtLnb6/fPNOOns
5C2NjiLtS8sTu3Taio6XVCppBMG8T8XVx37MiIrXJaQYNI8Da1gxwp+KLb+oWo+A
+FA22zXYvT4FyEz0lsN+EhNlJ06N+ngCEcmS+lzOFhGvNlbhbui7l1doy6E3bYnq
pxCUq/3hTEq/FdAxcIECLa5q0ONOpsIgvSOc4DuU6Kfce86GlwWfuMX9R6y7jKlB
y4C8W92whgU1EeiBvfNzWm2ftopuwwRkuv1wgCGjNyXm8gP9wwRwPqqLVZUWD9q2
GR6UCavwC+wi4DO3wPBrRZeOYxFuZ7FAaMc09k7UhN/HbB05NHKjBXDwrkdxmMXs
NzCxAgMBAAGgADANBgkqhkiG9w0BAQsFAAOCAQEAPbA4vE6uqCoRJy3/KKXSLL34
i4HNAG+YtNwnEUQQgl5ph+k2W7wZF4G1Nk+h66vK+PMlUP50HXfgnl1qigWk8ehI
H0FhE898fElvkoXyZq/+I4isb/aniIZPjGKSmpKjpf0Bl8G7FSijzlyPFs7tYgqc
u7mRWy+vIefWqUvjFazmFcFroHOl4jZc0q1f23jRjFWnNvYCZjVdJ+eDaMqp57KV
ILNcOWgZ9z220hNLItgF63dpUM51b1dU5MSVELIe65PjGdw8pkBn1odTB9DYMvJg
Ai8yPj37VCxLkgnIUFOuxnX2KO63/35OM36LIPtS3JgkbuKExBzuGd9Q1GrbUw==
-----END CERTIFICATE REQUEST-----
)";

// 64 bytes of 9 in base64, and the signature of that text by the Ed25519 key, in base64.
inline constexpr std::string_view nonce =
    "CQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQ==";
inline constexpr std::string_view nonce_signature =
    "fRKsaAWo3ttth+j6XFix5JpzRXnU9YyuLwcrhq+ErIxPowfy9hZSBiiSZL37dw2xrh5Txb2hoc1rnaQocw70Aw==";

// Of tenant-a, from 2026-11-21T10:00:00Z to 13:00:00Z
inline constexpr std::string_view certificate = R"(-----BEGIN CERTIFICATE-----
MIH2MIGpoAMCAQICAQUwBQYDK2VwMCUxEDAOBgNVBAoTB2xpcW8uaW8xETAPBgNV
BAMTCHRlbmFudC1hMB4XDTI2MTEyMTEwMDAwMFoXDTI2MTEyMTEzMDAwMFowJTEQ
MA4GA1UEChMHbGlxby5pbzERMA8GA1UEAxMIdGVuYW50LWEwKjAFBgMrZXADIQDq
Smxj4pxSCr71UHsTLsX5lUd2rr6+e5JCHuppFEbSLDAFBgMrZXADQQBLwJM32VB3
2Bu0Kvh03K/UVXS7RU8mVPV9GqbuUiW+Hxmvzuf4z4O1+I80fXDNWTiNjqf5ih0P
OwwruEiNAbkN
-----END CERTIFICATE-----
)";

// Of tenant-a, to 2070-01-01T00:00:00Z
inline constexpr std::string_view late_certificate = R"(-----BEGIN CERTIFICATE-----
MIH4MIGroAMCAQICAQUwBQYDK2VwMCUxEDAOBgNVBAoTB2xpcW8uaW8xETAPBgNV
BAMTCHRlbmFudC1hMCAXDTI2MTEyMTEwMDAwMFoYDzIwNzAwMTAxMDAwMDAwWjAl
MRAwDgYDVQQKEwdsaXFvLmlvMREwDwYDVQQDEwh0ZW5hbnQtYTAqMAUGAytlcAMh
AOpKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIsMAUGAytlcANBALApYElA
9sjQbPY8pasHnIFUG7+ydVa8K0u9IQdTdm9n0xIqu0cbiYt7P9njlU2TrGlj1dWS
ag19KjOb1xsLuAk=
-----END CERTIFICATE-----
)";

}  // namespace liqo::core::fixtures
